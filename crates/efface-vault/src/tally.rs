//! The tally: how many rows the last request left and the sum of their checksums, under a keyed
//! checksum of its own.
//!
//! It reveals a row that was removed, added, altered or exchanged by another program, and a file that was
//! copied in the middle of a change. Sums are taken modulo 2^128, so that a deletion subtracts what the
//! addition added: after every request the tally is what it would be had the deleted rows never been there, a
//! function of the remaining rows alone. That is what `perfect` state asks of everything that is kept. The
//! sums are stored behind a mask that changes with every request; unmasked, the difference of two copies
//! would reveal the share of the rows between them.

use crate::checksum::{Checksums, put};
use crate::column::{at_most_one, maybe_unsigned, unsigned, within};
use crate::schema::ROWS;
use crate::stored::{Found, Request, Tally};
use crate::{ReadError, RowFault, StoreFault, Transaction, Vault, WriteError};

impl Tally {
    /// Compares with what was found: the number alone if no key is at hand.
    pub(crate) fn compare(&self, found: &Found) -> Result<(), RowFault> {
        if found.records != self.records {
            return Err(RowFault::Count { certified: self.records, present: found.records });
        }
        match found.sum {
            Some(sum) if sum != self.rows => Err(RowFault::Sum { records: self.records }),
            _ => Ok(()),
        }
    }
}

/// The tally's row as it is stored.
struct Stored {
    records: u64,
    rows: [u8; 16],
    notes: [u8; 16],
    mac: [u8; 32],
}

impl Vault {
    /// Returns how many rows there are, which must be as many as the last request left.
    ///
    /// # Errors
    /// Fails with [`RowFault::Count`] if they are not as many.
    pub fn checked_count(&self) -> Result<u64, ReadError> {
        // One statement, so that no commit falls between the two.
        let sql = format!("SELECT ({ROWS}), (SELECT MAX(records) FROM tally)");
        let (present, certified) = self
            .connection
            .query_row(&sql, [], |row| Ok((unsigned(row, 0)?, maybe_unsigned(row, 1)?)))?;
        let certified = self.pending.map(|tally| tally.records).or(certified);
        match certified {
            Some(certified) if certified == present => Ok(present),
            Some(certified) => Err(StoreFault::from(RowFault::Count { certified, present }).into()),
            None => Err(StoreFault::from(RowFault::Tally).into()),
        }
    }

    /// Checks every row's checksum and their sum.
    ///
    /// # Errors
    /// Fails with a [`RowFault`], or with [`ReadError::Locked`] without the key.
    pub fn check_rows(&self) -> Result<u64, ReadError> {
        self.checksums.as_ref().ok_or(ReadError::Locked)?;
        self.scan(|_, _| Ok::<_, ReadError>(()))?;
        Ok(self.tally()?.records)
    }

    /// Checks the requests and the tombstones against the sum of their checksums.
    ///
    /// # Errors
    /// Fails with [`RowFault::Notes`]; [`ReadError::Locked`] without the key.
    pub fn check_notes(&self) -> Result<(), ReadError> {
        match self.sum_of_notes()? == self.tally()?.notes {
            true => Ok(()),
            false => Err(StoreFault::from(RowFault::Notes).into()),
        }
    }

    /// Returns what the checksums of requests and tombstones add up to.
    pub(crate) fn sum_of_notes(&self) -> Result<u128, ReadError> {
        let checksums = self.checksums.as_ref().ok_or(ReadError::Locked)?;
        let mut sum = 0u128;
        self.scan_requests(|request| {
            sum = sum.wrapping_add(checksums.request(&request).share);
            Ok::<_, ReadError>(())
        })?;
        self.scan_tombstones(|mac, entry| {
            sum = sum.wrapping_add(checksums.tombstone(&mac, entry).share);
            Ok::<_, ReadError>(())
        })?;
        Ok(sum)
    }

    /// Returns the tally: that of the change in progress, else the stored one. With the key, its own checksum
    /// is checked; without the key, its sums mean nothing.
    pub(crate) fn tally(&self) -> Result<Tally, ReadError> {
        match self.pending {
            Some(tally) => Ok(tally),
            None => self.stored_tally(),
        }
    }

    pub(crate) fn stored_tally(&self) -> Result<Tally, ReadError> {
        let [rows, notes, mac] = ["rows", "notes", "mac"].map(|column| within(column, 32));
        let sql = format!("SELECT records, {rows}, {notes}, {mac} FROM tally");
        let stored = at_most_one(&self.connection, &sql, [], |row| {
            let (rows, notes, mac) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(Stored { records: unsigned(row, 0)?, rows, notes, mac })
        })?;
        let changed = || StoreFault::from(RowFault::Tally);
        let stored = stored.ok_or_else(changed)?;
        let Some(checksums) = &self.checksums else {
            return Ok(Tally { records: stored.records, ..Tally::default() });
        };
        let [rows, notes] = self.masks(checksums)?;
        let tally = Tally {
            records: stored.records,
            rows: u128::from_le_bytes(stored.rows).wrapping_sub(rows),
            notes: u128::from_le_bytes(stored.notes).wrapping_sub(notes),
        };
        match self.seal(checksums, &tally)? == stored.mac {
            true => Ok(tally),
            false => Err(changed().into()),
        }
    }

    /// Returns the masks that hide the two sums: new with every entry of the ledger.
    fn masks(&self, checksums: &Checksums) -> Result<[u128; 2], ReadError> {
        let place = self.place()?;
        let [mut rows, mut notes] = [[0; 16]; 2];
        let mask = checksums.hash(b"mask", |input| input.extend(place));
        rows.copy_from_slice(&mask[..16]);
        notes.copy_from_slice(&mask[16..]);
        Ok([rows, notes].map(u128::from_le_bytes))
    }

    /// Computes the tally's own checksum. It also binds the version of the model, the head of the ledger, the
    /// highest numbers ever given to records and rows, how many numbers share a block, and the digest of the
    /// kept state, so that none of them can be put back to an earlier one alone.
    fn seal(&self, checksums: &Checksums, tally: &Tally) -> Result<[u8; 32], ReadError> {
        let place = self.place()?;
        let kept = self.caches_digest()?;
        Ok(checksums.hash(b"tally", |input| {
            input.extend(place);
            put(input, kept.as_ref().map(|digest| &digest[..]));
            input.extend(tally.records.to_le_bytes());
            input.extend(tally.rows.to_le_bytes());
            input.extend(tally.notes.to_le_bytes());
        }))
    }

    /// Returns the counters and heads that the tally's checksum binds.
    fn place(&self) -> Result<Vec<u8>, ReadError> {
        let mut place = Vec::with_capacity(128);
        put(&mut place, self.model_version()?.map(u64::to_le_bytes).as_ref().map(|v| &v[..]));
        let head = self.head()?;
        put(&mut place, head.map(|head| head.index.to_le_bytes()).as_ref().map(|v| &v[..]));
        put(&mut place, head.as_ref().map(|head| &head.hash[..]));
        place.extend(self.last_number()?.to_le_bytes());
        place.extend(self.next_position()?.to_le_bytes());
        place.extend(self.block_rows()?.to_le_bytes());
        Ok(place)
    }
}

impl Transaction<'_> {
    /// Begins a write to what the tally covers.
    pub(crate) fn touch(&mut self) -> Result<(), WriteError> {
        self.refuse_if_failed()?;
        let vault = self.vault_mut();
        if vault.checksums.is_none() || vault.pending.is_none() {
            return self.give_up(WriteError::locked());
        }
        self.touched = true;
        Ok(())
    }

    /// Stores the tally, if anything it covers was written.
    pub(crate) fn seal_tally(&mut self) -> Result<(), WriteError> {
        let (Some(checksums), Some(tally)) = (&self.checksums, self.pending) else {
            return Ok(());
        };
        if !self.touched {
            return Ok(());
        }
        let [rows, notes] = self.masks(checksums)?;
        let mac = self.seal(checksums, &tally)?;
        let sums = [tally.rows.wrapping_add(rows), tally.notes.wrapping_add(notes)];
        let [rows, notes] = sums.map(u128::to_le_bytes);
        let records = self.number("records", tally.records)?;
        let sql = "INSERT INTO tally (one, records, rows, notes, mac) VALUES (1, ?1, ?2, ?3, ?4) \
                   ON CONFLICT (one) DO UPDATE SET \
                   records = excluded.records, rows = excluded.rows, \
                   notes = excluded.notes, mac = excluded.mac";
        self.execute(sql, (records, rows, notes, mac))?;
        Ok(())
    }

    /// Replaces a block's former number of rows and share of the sum by the new ones.
    pub(crate) fn exchange_block(&mut self, old: (u64, u128), new: (u64, u128)) {
        if let Some(tally) = &mut self.vault_mut().pending {
            tally.records = tally.records.wrapping_sub(old.0).wrapping_add(new.0);
            tally.rows = tally.rows.wrapping_sub(old.1).wrapping_add(new.1);
        }
    }

    /// Replaces the checksum of one note by that of another.
    pub(crate) fn exchange_note(&mut self, old: Option<u128>, new: u128) {
        if let Some(tally) = &mut self.vault_mut().pending {
            tally.notes = tally.notes.wrapping_sub(old.unwrap_or(0)).wrapping_add(new);
        }
    }

    /// Exchanges the checksum of a request.
    pub(crate) fn exchange_request(&mut self, old: Option<&Request>, new: &Request) {
        let share = |request: &Request| {
            self.checksums.as_ref().map_or(0, |checksums| checksums.request(request).share)
        };
        let (old, new) = (old.map(share), share(new));
        self.exchange_note(old, new);
    }
}
