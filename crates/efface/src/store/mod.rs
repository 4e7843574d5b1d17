//! The state of an open vault: plan, weights, latest certificate, and kept state.

pub(crate) mod digest;
pub(crate) mod head;
pub(crate) mod ledger;
pub(crate) mod seal;

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use efface_learn::mechanism::{Kept, Prepared, Steering};
use efface_privacy::certificate::Certificate;
use efface_privacy::event::{Event, Given, State};
use efface_vault::{Genesis, LedgerHead, OpenError, ReadError, StoreFault, Vault};

use crate::arithmetic;
use crate::context::{Context, Progress, Watch};
use crate::error::{Code, Error, Kind, Result};
use crate::mechanism::prepares_point;
use crate::plan::Plan;
use crate::rows::bytes::released;
use crate::rows::{Resident, RowStore, block_rows};
use crate::store::digest::certifies;
use crate::store::ledger::Tally;
use crate::weights::Published;

/// Time between two attempts to open a vault that another program is using.
const TRY: Duration = Duration::from_millis(50);

/// Opens a vault for reading one consistent state. Commits wait for it, so drop it as soon as everything is
/// read. If a killed writer left a request half done, undoes that first, which takes the write lock once.
pub(crate) fn open_for_reading(path: &Path) -> Result<Vault> {
    let opened = match Vault::open_read_only(path) {
        Err(OpenError::Store(StoreFault::NeedsRecovery)) => {
            Vault::open_for(path, "efface recovery")
                .map(drop)
                .and_then(|()| Vault::open_read_only(path))
        }
        opened => opened,
    };
    opened.map_err(|error| Error::from(error).of_vault(path))
}

/// Opens a vault for a request: checks first its keys, then that it has as many rows as the last request
/// left. Other programs that find it in use are told `purpose` and since when.
pub(crate) fn open_to_serve(
    path: &Path,
    purpose: &str,
    context: &mut Context<'_>,
) -> Result<(Vault, Current)> {
    arithmetic::check()?;
    let purpose = format!("{purpose}, since {}", context.now()?);
    let mut vault = wait_for(context.wait, context.watch, || Ok(Vault::open_for(path, &purpose)?))?;
    vault.unlock(context.keyring)?;
    let current = Current::of(&vault)?;
    current.tally.count_rows(&vault)?;
    context.rows.begin(path, &current.genesis.vault_id, current.head);
    Ok((vault, current))
}

/// Like [`open_to_serve`], for an erasure from a vault whose rows and model may be damaged.
pub(crate) fn open_damaged(path: &Path, context: &mut Context<'_>) -> Result<(Vault, Current)> {
    let purpose = format!("efface delete, since {}", context.now()?);
    let mut vault = wait_for(context.wait, context.watch, || Ok(Vault::open_for(path, &purpose)?))?;
    vault.unlock_damaged(context.keyring)?;
    let current = Current::without_model(&vault)?;
    Ok((vault, current))
}

/// Retries while another program is in the way, until the time is over.
pub(crate) fn wait_for<T>(
    wait: Duration,
    watch: &mut Watch<'_>,
    mut attempt: impl FnMut() -> Result<T>,
) -> Result<T> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if error.kind() == Kind::Busy && began.elapsed() < wait => {
                if watch(&Progress::Waiting).is_break() {
                    return Err(Error::interrupted());
                }
                sleep(TRY);
            }
            done => return done,
        }
    }
}

/// The model that a vault holds now.
pub(crate) struct Current {
    pub(crate) genesis: Genesis,
    pub(crate) plan: Plan,
    /// Version of the latest model, even if it is withdrawn.
    pub(crate) version: u64,
    /// The newest certificate.
    pub(crate) latest: Certificate,
    /// The sums over the ledger.
    pub(crate) tally: Tally,
    pub(crate) head: LedgerHead,
    model: Option<Published>,
    /// Whether no model is left, and no record to fit another one's preprocessing to.
    is_spent: bool,
}

impl Current {
    /// Reads the model and checks it against its certificate.
    pub(crate) fn of(vault: &Vault) -> Result<Self> {
        Self::with_model(vault).map_err(|error| error.of_vault(vault.path()))
    }

    fn with_model(vault: &Vault) -> Result<Self> {
        let mut current = Self::without_model(vault)?;
        let (model, certified) = match (vault.model()?, current.is_withdrawn()) {
            (None, true) => (None, true),
            (None, false) => return Err(missing("model")),
            // A withdrawn model was put back by someone else.
            (Some(_), true) => (None, false),
            (Some(stored), false) => {
                let (plan, weights) = released(&stored.weights, current.plan)?;
                current.plan = plan;
                let certified = certifies(&current.latest, &stored);
                let (salt, digest) = (stored.salt, stored.digest);
                (Some(Published { salt, digest, weights }), certified)
            }
        };
        if !certified {
            return Err(uncertified("weights are"));
        }
        current.model = model;
        current.is_spent =
            current.is_withdrawn() && current.plan.fitting.is_some() && vault.record_count()? == 0;
        Ok(current)
    }

    /// Reads everything but the model itself, for requests that withdraw it.
    pub(crate) fn without_model(vault: &Vault) -> Result<Self> {
        let genesis = vault.genesis()?;
        let plan = Plan::read(&genesis.config_json)?;
        let head = vault.head()?.ok_or_else(|| missing("ledger"))?;
        let (tally, latest) = Tally::with_newest(vault, &genesis)?;
        let planned = plan.is_that_of(&latest)?
            && plan.schedule.scheduled().is_of(&plan, &latest.event)
            && given_of(&latest.event) == plan.given.as_ref()
            && genesis.vault_id == latest.vault;
        if !planned {
            return Err(uncertified("plan is"));
        }
        // It locates the rows, and follows from the plan.
        if genesis.block_rows != block_rows(&plan) {
            return Err(uncertified("size of blocks is"));
        }
        let version = latest.model.version;
        let (model, is_spent) = (None, false);
        Ok(Self { genesis, plan, version, latest, head, model, tally, is_spent })
    }

    /// Returns whether records were erased without a release, so that there is no model.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.tally.withdrawn.is_some()
    }

    /// Returns the model that is published now.
    ///
    /// # Errors
    /// Fails if the model is withdrawn.
    pub(crate) fn published(&self) -> Result<&Published> {
        self.model.as_ref().ok_or_else(|| self.withdrawn())
    }

    /// Returns the error for whatever needs the model that an erasure withdrew, with what can be done then.
    pub(crate) fn withdrawn(&self) -> Error {
        if self.is_spent { self.plan.spent() } else { self.plan.withdrawn() }
    }

    /// Refuses to train again if the accounting cannot continue or no record is left.
    pub(crate) fn check_can_restart(&self) -> Result<()> {
        if self.is_spent {
            return Err(self.plan.spent());
        }
        self.plan.check_can_restart()
    }

    /// Returns the number of releases of this model.
    pub(crate) fn releases(&self) -> u64 {
        self.latest.event.releases()
    }
}

/// Returns what the features of an event were made with, if they were given.
fn given_of(event: &Event) -> Option<&Given> {
    match event {
        Event::Composed(event) => Some(&event.given),
        _ => None,
    }
}

fn missing(what: &str) -> Error {
    Error::storage(Code::Damaged, format!("the vault has no {what}"))
        .hint("`§efface doctor` says more; `§efface restore` puts a backup in its place")
}

fn uncertified(what: &str) -> Error {
    let message = format!("the vault's {what} not what its latest certificate states");
    Error::storage(Code::Damaged, message).hint(
        "run `§efface ledger verify` for details; `§efface restore` puts a backup in the vault's \
         place",
    )
}

/// Returns whether the next request needs the rows that it changes: the plan asks for them, or a prepared
/// point does.
pub(crate) fn needs_changed_rows(vault: &Vault, plan: &Plan, rows: RowStore<'_>) -> Result<bool> {
    let held = rows.held().is_some_and(Resident::is_prepared);
    let point = prepares_point(plan) && (held || vault.keeps_caches()?);
    Ok(point || plan.uses_changed_rows())
}

/// Returns what is kept besides model and records, if anything.
pub(crate) fn kept(vault: &Vault, plan: &Plan) -> Result<Option<Kept>> {
    if !plan.keeps_state() {
        return Ok(None);
    }
    let hint = match plan.state {
        State::Secret => "`§efface refresh` continues without it",
        State::Perfect => "`§efface restore` puts a backup in the vault's place",
    };
    let bytes = match vault.caches() {
        Err(error @ ReadError::Store(StoreFault::Rows(_))) => {
            return Err(Error::from(error).hint(hint));
        }
        read => read?,
    };
    let Some(bytes) = bytes else { return Ok(None) };
    Kept::from_bytes(&bytes).map(Some).map_err(|error| {
        let what = format!("the vault's kept state cannot be read: {error}");
        Error::storage(Code::Damaged, what).hint(hint)
    })
}

/// Returns what the vault keeps for the next request of a model with `weights` weights, if anything.
///
/// # Errors
/// Fails if the bytes are not the Hessian of this version; without it nothing but time is lost.
pub(crate) fn prepared(
    vault: &Vault,
    plan: &Plan,
    version: u64,
    weights: usize,
) -> Result<Option<Prepared>> {
    prepared_or_held(vault, plan, version, weights, None)
}

/// Like [`prepared`], but prefers what the process holds in memory, and takes it from there.
pub(crate) fn prepared_or_held(
    vault: &Vault,
    plan: &Plan,
    version: u64,
    weights: usize,
    resident: Option<&Resident>,
) -> Result<Option<Prepared>> {
    if !plan.prepares() {
        return Ok(None);
    }
    let damaged = |why: String| {
        let what = format!("the vault's kept Hessian cannot be used: {why}");
        Error::storage(Code::Damaged, what).hint("`§efface prepare` makes a new one")
    };
    let prepared = match resident.and_then(Resident::take_prepared) {
        Some(held) => held,
        None => {
            let Some(bytes) = vault.caches()? else { return Ok(None) };
            Prepared::from_bytes(&bytes).map_err(|error| damaged(error.to_string()))?
        }
    };
    let (made, dimension) = (prepared.version, prepared.dimension());
    if matches!(prepared.kept, Steering::Point(_)) && !prepares_point(plan) {
        return Err(damaged("the model's rows are not what it was computed from".to_owned()));
    }
    if made != version {
        return Err(damaged(format!(
            "it is of version {made}, but the model is version {version}"
        )));
    }
    if dimension != weights {
        return Err(damaged(format!("it has {dimension} weights, but the model has {weights}")));
    }
    Ok(Some(prepared))
}
