//! Names a request, so that it is served only once.

use efface_privacy::certificate::RequestKind;
use efface_vault::Request;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::requests::random::identifier;

/// A request's name and keyed digest.
pub(crate) struct Named {
    pub(crate) kind: RequestKind,
    pub(crate) id: String,
    pub(crate) digest: [u8; 32],
    pub(crate) received_at: String,
}

impl Named {
    /// Returns the request as the vault keeps it, served with the certificate at `index`.
    pub(crate) fn request(&self, version: Option<u64>, index: u64) -> Request {
        Request {
            request_id: self.id.clone(),
            kind: self.kind.name().to_owned(),
            body_digest: Some(self.digest),
            version,
            entry_index: index,
        }
    }
}

/// Names a request: checks the user's id, or makes a fresh one. `body` is what was asked; `private` lists ids
/// and subjects that the request id must not contain.
pub(crate) fn name_request(
    id: Option<&str>,
    kind: RequestKind,
    vault_id: &str,
    body: &str,
    private: &[&str],
    context: &mut Context<'_>,
) -> Result<Named> {
    let received_at = context.now()?;
    let digest = context.keyring.hmac(vault_id, kind.name(), body.as_bytes());
    let id = match id {
        None => format!("{}-{}", kind.name(), identifier(context)?),
        Some(id) => {
            check_request_id(id, private)?;
            id.to_owned()
        }
    };
    Ok(Named { kind, id, digest, received_at })
}

/// Refuses a request id that reveals an id or subject: one that equals it, or contains it if it is long
/// enough to identify someone. A short number, like the parts of a date, is not long enough.
pub(crate) fn check_request_id(id: &str, private: &[&str]) -> Result<()> {
    let plain = !id.is_empty()
        && id.len() <= 128
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b));
    if !plain {
        return Err(Error::input(
            Code::RequestId,
            "a request id must have 1 to 128 letters, digits, `-`, `_`, `.` or `:`",
        ));
    }
    match private.iter().find(|secret| gives_away(id, secret)) {
        None => Ok(()),
        Some(secret) => Err(named_after(id, secret)),
    }
}

pub(super) fn named_after(id: &str, secret: &str) -> Error {
    let clash = if id.eq_ignore_ascii_case(secret) {
        "is the id or subject of a record".to_owned()
    } else {
        format!("contains `{secret}`, the id or subject of a record")
    };
    let rule = "request ids are kept after a record is deleted and must not identify it";
    Error::input(Code::RequestId, format!("request id `{id}` {clash}; {rule}"))
        .hint("use a ticket number or a date")
}

/// A name with letters identifies from three characters on; a number needs more digits than the year, month
/// or day of a date.
fn gives_away(id: &str, secret: &str) -> bool {
    const NAME: usize = 3;
    const NUMBER: usize = 6;
    const ANYWHERE: usize = 8;
    let (id, secret) = (id.to_lowercase(), secret.to_lowercase());
    if id == secret {
        return true;
    }
    let number = secret.bytes().all(|b| b.is_ascii_digit());
    if secret.len() < if number { NUMBER } else { NAME } {
        return false;
    }
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    id.match_indices(&secret).any(|(at, _)| {
        let (before, after) = (&id[..at], &id[at + secret.len()..]);
        let whole = !inside(before.chars().next_back()) && !inside(after.chars().next());
        whole || secret.len() >= ANYWHERE
    })
}

#[cfg(test)]
mod tests {
    use super::gives_away;

    #[test]
    fn request_ids_give_away_whole_names_and_long_numbers() {
        for (id, secret) in [
            ("11", "11"),
            ("R17", "r17"),
            ("forget-r17", "r17"),
            ("forget.ANA", "ana"),
            ("gdpr-4711881", "4711881"),
            ("xalicesmithx", "alicesmith"),
            ("ticket-a.b-c", "a.b"),
            ("row:7-gone", "row:7"),
        ] {
            assert!(gives_away(id, secret), "{id} {secret}");
        }
        for (id, secret) in [
            ("2026-11-leavers", "11"),
            ("2026-11-leavers", "2026"),
            ("2026-11-leavers", "leaver"),
            ("2026-11-leavers", "a"),
            ("batch-r170", "r17"),
            ("xalicex", "alice"),
            ("delete-4711", "471"),
            ("t1", ""),
        ] {
            assert!(!gives_away(id, secret), "{id} {secret}");
        }
    }
}
