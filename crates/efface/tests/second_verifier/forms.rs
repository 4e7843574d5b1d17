//! Certificates have one spelling: respelled ones are read by neither verifier.

use std::fs;

use ed25519_dalek::{Signer, SigningKey};
use efface_privacy::certificate::{Certificate, seal, verify};
use efface_privacy::event::Event;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::Value;

use crate::draw::Draw;
use crate::second_verifier;

type Respell = fn(&str) -> String;

/// Times in other forms.
const TIMES: &[Respell] = &[
    |_| String::new(),
    |_| "inf".to_owned(),
    |_| "nan".to_owned(),
    |text| text.to_lowercase(),
    |text| text.replace('T', " "),
    |text| text.replace('Z', "+00:00"),
    |text| format!("{text} "),
    |_| "2026-13-02T03:04:05Z".to_owned(),
    |_| "2026-01-32T03:04:05Z".to_owned(),
    |_| "2026-01-02T24:04:05Z".to_owned(),
    |_| "2026-01-02T03:60:05Z".to_owned(),
    |_| "2026-01-02T03:04:61Z".to_owned(),
    |_| "+026-01-02T03:04:05Z".to_owned(),
];

/// Fields, and other spellings of what they hold.
const RESPELLED: &[(&str, &[Respell])] = &[
    (
        "/claims/0/epsilon",
        &[
            |text| format!("0{text}"),
            |text| format!("+{text}"),
            |text| format!(" {text}"),
            |text| format!("{text} "),
            |text| format!("{text}\n"),
            |text| format!("{text}e0"),
            |text| format!("{text}_"),
            |_| "0.50".to_owned(),
            |_| "00.5".to_owned(),
            |_| ".5".to_owned(),
            |_| "5.".to_owned(),
            |_| "5e-1".to_owned(),
            |_| "1e5".to_owned(),
            |_| "100000.0".to_owned(),
            |_| "0.00001".to_owned(),
            |_| "1E-5".to_owned(),
            |_| "1e-05".to_owned(),
            |_| "1e+20".to_owned(),
            |_| "10e19".to_owned(),
            |_| "0.1000000000000000055".to_owned(),
            |_| "Inf".to_owned(),
            |_| "infinity".to_owned(),
            |_| "nan".to_owned(),
            |_| "\u{0665}".to_owned(),
        ],
    ),
    ("/event/setting/lipschitz", &[|text| format!("{text}0e0")]),
    (
        "/request/records",
        &[
            |_| "three".to_owned(),
            |_| "+3".to_owned(),
            |_| "03".to_owned(),
            |_| "3 ".to_owned(),
            |_| String::new(),
            |_| "Not stated".to_owned(),
            |_| "1".repeat(17),
        ],
    ),
    ("/request/subjects", &[|_| String::new(), upper, spaced, shorter]),
    ("/issued_at", TIMES),
    ("/request/received_at", TIMES),
    ("/model/digest_before", &[upper, spaced, shorter]),
    ("/model/digest_after", &[upper, spaced, shorter]),
    ("/chain/previous", &[upper, spaced, shorter]),
    ("/chain/hash", &[upper, spaced, shorter]),
    ("/signature/key_id", &[upper, spaced, shorter]),
    ("/signature/public_key", &[upper, spaced, shorter]),
    ("/signature/value", &[upper, spaced, shorter]),
];

fn upper(text: &str) -> String {
    text.replace(['a', 'b', 'c', 'd', 'e', 'f', '0', '1'], "A")
}

fn spaced(text: &str) -> String {
    format!("{} {}", &text[..2], &text[2..])
}

fn shorter(text: &str) -> String {
    text[2..].to_owned()
}

#[test]
fn a_respelled_certificate_is_read_by_neither_verifier() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = key.verifying_key().to_bytes();
    let sign = |bytes: &[u8]| key.sign(bytes).to_bytes();
    let folder = tempfile::tempdir().unwrap();
    let mut draw = Draw(ChaCha20Rng::from_seed([3; 32]));
    let whole = |c: &Certificate| {
        let named = c.request.subjects.is_some() && c.model.digest_before.is_some();
        named && !matches!(c.event, Event::Composed(_))
    };
    let honest = (0..).map(|index| draw.honest(index)).find(whole).unwrap();
    let (text, _) = seal(serde_json::to_value(&honest).unwrap(), &public, sign).unwrap();
    let mut files = Vec::new();
    for (field, spellings) in RESPELLED {
        for respell in *spellings {
            let mut document: Value = serde_json::from_str(&text).unwrap();
            let place = document.pointer_mut(field).unwrap();
            let other = respell(place.as_str().unwrap());
            assert_ne!(place.as_str(), Some(&*other), "{field}");
            *place = Value::String(other.clone());
            // Whoever holds the key may sign anything.
            let sealed = field.starts_with("/chain/hash") || field.starts_with("/signature");
            let text = if sealed {
                document.to_string()
            } else {
                seal(document, &public, sign).unwrap().0
            };
            let error = verify(&text, Some(&public)).map(|verdict| verdict.outcome());
            assert!(error.is_err(), "{field} `{other}`: {error:?}");
            let name = format!("{}.json", files.len());
            fs::write(folder.path().join(&name), text).unwrap();
            files.push(name);
        }
    }
    let output = second_verifier(folder.path(), &files, &public);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{lines}");
    assert_eq!(lines.lines().count(), files.len(), "{lines}");
    assert!(lines.lines().all(|line| line.starts_with("undecided")), "{lines}");
}
