//! The key file: made once, kept from others, read strictly.

use ed25519_dalek::{Signature, Verifier, VerifyingKey};
use efface_vault::{Keyring, KeyringError};
use std::fs;
use std::path::{Path, PathBuf};

const SEED: [u8; 32] = [1; 32];
const SECRET: [u8; 32] = [2; 32];

fn chmod(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// A key file with this content.
fn written(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    fs::write(&path, content).unwrap();
    chmod(&path, 0o600);
    (folder, path)
}

#[test]
fn what_was_made_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("efface/deep/keys.toml");
    let made = Keyring::create(&path, &SEED, &SECRET).unwrap();
    let read = Keyring::load(&path).unwrap();
    assert_eq!(made.public_key(), read.public_key());
    assert_eq!(made.sign(b"text"), read.sign(b"text"));
    assert_eq!(made.hmac("v", "subject", b"x"), read.hmac("v", "subject", b"x"));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_file_is_valid_toml() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    Keyring::create(&path, &SEED, &SECRET).unwrap();
    let table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
    assert_eq!(table["version"].as_integer(), Some(2));
    for (name, digits) in [("signing_seed", "01"), ("hmac_secret", "02")] {
        let (value, check) = table[name].as_str().unwrap().split_once('.').unwrap();
        assert_eq!((value, check.len()), (digits.repeat(32).as_str(), 8));
    }
}

#[test]
fn signatures_verify_under_the_public_key() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keyring::create(&folder.path().join("k"), &SEED, &SECRET).unwrap();
    let verifier = VerifyingKey::from_bytes(&keys.public_key()).unwrap();
    let signature = Signature::from_bytes(&keys.sign(b"text"));
    verifier.verify(b"text", &signature).unwrap();
    verifier.verify(b"next", &signature).unwrap_err();
}

/// RFC 8032, section 7.1, test 2.
#[test]
fn signatures_are_those_of_the_standard() {
    let folder = tempfile::tempdir().unwrap();
    let seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    let seed: [u8; 32] = hex::decode(seed).unwrap().try_into().unwrap();
    let keys = Keyring::create(&folder.path().join("k"), &seed, &SECRET).unwrap();
    let expected = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                    085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";
    assert_eq!(hex::encode(keys.sign(&[0x72])), expected);
}

/// The expected value was computed with Python's `hmac` module:
/// `hmac.new(b'\2' * 32, b''.join(len(p).to_bytes(8, 'little') + p for p in
/// [b'efface/hmac/1', b'v', b'subject', b'alice']), 'sha256').hexdigest()`.
#[test]
fn keyed_hashes_are_those_of_the_standard() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keyring::create(&folder.path().join("k"), &SEED, &SECRET).unwrap();
    let expected = "6a1c1a8ba18ad67f613f45f6c67c3bbb624be8cabca469519c067227f1665484";
    assert_eq!(hex::encode(keys.hmac("v", "subject", b"alice")), expected);
}

#[test]
fn keyed_hashes_differ_by_vault_label_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keyring::create(&folder.path().join("k"), &SEED, &SECRET).unwrap();
    let mut hashes = vec![
        keys.hmac("v", "subject", b"x"),
        keys.hmac("w", "subject", b"x"),
        keys.hmac("v", "record", b"x"),
        keys.hmac("v", "subject", b"y"),
        keys.hmac("vs", "ubject", b"x"),
        keys.hmac("v", "subjectx", b""),
    ];
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
}

#[test]
fn keys_are_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    Keyring::create(&path, &SEED, &SECRET).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = Keyring::create(&path, &[3; 32], &SECRET).unwrap_err();
    assert!(matches!(refused, KeyringError::AlreadyExists(_)), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn debug_output_shows_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Keyring::create(&folder.path().join("k"), &SEED, &SECRET).unwrap();
    let text = format!("{keys:?}");
    assert_eq!(text, format!("Keyring {{ public_key: {:?}, .. }}", hex::encode(keys.public_key())));
}

#[cfg(unix)]
#[test]
fn the_file_and_its_new_folders_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("efface/keys.toml");
    Keyring::create(&path, &SEED, &SECRET).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[cfg(unix)]
#[test]
fn a_file_open_to_others_is_refused_with_the_command_that_closes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.toml");
    Keyring::create(&path, &SEED, &SECRET).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o602, 0o610] {
        chmod(&path, mode);
        let refused = Keyring::load(&path).unwrap_err();
        let expected = format!(
            "{path} is open to others (mode {mode:o}); run `chmod 600 {path}`",
            path = path.display()
        );
        assert_eq!(refused.to_string(), expected);
    }
    chmod(&path, 0o400);
    Keyring::load(&path).unwrap();
}

#[cfg(unix)]
#[test]
fn a_folder_others_may_write_in_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    chmod(folder.path(), 0o770);
    let refused = Keyring::create(&folder.path().join("k"), &SEED, &SECRET).unwrap_err();
    assert!(refused.to_string().contains("run `chmod 700 "), "{refused}");
    assert!(!folder.path().join("k").exists());
}

#[test]
fn a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Keyring::load(&folder.path().join("k")).unwrap_err();
    assert!(refused.to_string().contains("does not exist"), "{refused}");
    let refused = Keyring::load(folder.path()).unwrap_err();
    assert!(refused.to_string().contains("cannot be used: "), "{refused}");
}

#[test]
fn malformed_files_name_the_line_and_never_quote_it() {
    const FORM: &str =
        "expected 64 hexadecimal digits, a dot and 8 check digits, all in double quotes";
    let (_folder, path) = written(b"");
    fs::remove_file(&path).unwrap();
    Keyring::create(&path, &SEED, &SECRET).unwrap();
    let made = fs::read_to_string(&path).unwrap();
    let line = |name: &str| made.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let [seed, secret] = ["signing_seed", "hmac_secret"].map(|name| line(name) + "\n");
    for (content, line, reason) in [
        (String::new(), 1, "`version` is missing"),
        (format!("version = 2\n{seed}"), 3, "`hmac_secret` is missing"),
        (format!("version = 2\n{secret}"), 3, "`signing_seed` is missing"),
        (format!("version = 3\n{seed}{secret}"), 1, "`version` must be 2"),
        (
            format!("version = 1\n{seed}{secret}"),
            1,
            "`version` must be 2; version 1 was made by an earlier development version of efface: \
             make a new key and train again",
        ),
        (format!("version = 2\nversion = 2\n{seed}"), 2, "`version` is given twice"),
        (format!("version = 2\n{seed}{seed}{secret}"), 3, "a name is given twice"),
        (format!("version = 2\n{seed}extra = 3\n"), 3, "unknown name"),
        ("version = 2\nabcdef\n".into(), 2, "expected `name = value`"),
        (format!("# keys\n\nsigning_seed = {}\n", "ab".repeat(32)), 3, FORM),
        ("signing_seed = \"abcd\"\n".into(), 1, FORM),
        (format!("signing_seed = \"{}\"\n", "ab".repeat(32)), 1, FORM),
        (format!("signing_seed = \"{}\"\n", "zz".repeat(32)), 1, FORM),
    ] {
        let (_folder, path) = written(content.as_bytes());
        let refused = Keyring::load(&path).unwrap_err().to_string();
        let expected = format!("is malformed at line {line}: {reason}");
        assert!(refused.ends_with(&expected), "{content}: {refused}");
    }
    let (_folder, path) = written(&[0xff; 100]);
    assert!(Keyring::load(&path).unwrap_err().to_string().contains("is malformed at line"));
    let (_folder, path) = written(&[b'#'; 100_000]);
    assert!(Keyring::load(&path).unwrap_err().to_string().contains("is malformed at line"));
}

/// Whichever digit of a value is changed, or of its check, the line is named.
#[test]
fn a_changed_digit_is_named() {
    let (_folder, path) = written(b"");
    fs::remove_file(&path).unwrap();
    Keyring::create(&path, &SEED, &SECRET).unwrap();
    let made = fs::read_to_string(&path).unwrap();
    let mut changed = 0;
    for (line, content) in made.lines().enumerate().filter(|(_, line)| line.contains('"')) {
        let start = made.find(content).unwrap();
        for (at, digit) in content.char_indices().skip_while(|(_, c)| *c != '"') {
            if !digit.is_ascii_hexdigit() {
                continue;
            }
            let other = if digit == '7' { "8" } else { "7" };
            let mut text = made.clone();
            text.replace_range(start + at..=start + at, other);
            fs::write(&path, &text).unwrap();
            let refused = Keyring::load(&path).unwrap_err();
            let expected = format!("is malformed at line {}: a digit was changed", line + 1);
            assert!(refused.to_string().contains(&expected), "{refused}");
            changed += 1;
        }
    }
    assert_eq!(changed, 2 * 72);
}
