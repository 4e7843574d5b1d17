//! A folder to work in, and the program run in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub(crate) const EFFACE: &str = env!("CARGO_BIN_EXE_efface");

/// A folder with its own home, and thus its own key.
pub(crate) struct Workshop {
    folder: TempDir,
    home: TempDir,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A place outside the folder, for tables that must not count as traces.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn key_file(&self) -> PathBuf {
        self.home.path().join(".config/efface/key.toml")
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The program with arguments, not started yet.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(EFFACE);
        command.args(arguments);
        self.placed(command)
    }

    /// The program with signals as a terminal would have them, also where this test runs in the
    /// background of a script, which makes children ignore Ctrl-C.
    pub(crate) fn heeding_signals<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let asked =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let python = String::from_utf8(asked.unwrap().stdout).unwrap();
        let script = "import os, signal, sys\n\
                      for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_DFL)\n\
                      os.execv(sys.argv[1], sys.argv[1:])";
        let mut command = Command::new(python.trim());
        command.args(["-c", script, EFFACE]).args(arguments);
        self.placed(command)
    }

    fn placed(&self, mut command: Command) -> Command {
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.home.path())
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program on words separated by spaces.
    pub(crate) fn efface(&self, line: &str) -> Ran {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.run(&words)
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap(), arguments)
    }

    /// Runs the program with a text on standard input.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // The program may end without reading all of it.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap(), arguments)
    }

    /// The public key, hexadecimal.
    pub(crate) fn public_key(&self) -> String {
        let shown = self.efface("key show --json").done().json();
        shown["public_key"].as_str().unwrap().to_owned()
    }

    /// Every file of the folder and below, with its bytes.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push((path.clone(), fs::read(&path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Ran {
    #[expect(dead_code, reason = "shown when a test fails")]
    line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn of<S: AsRef<OsStr>>(output: std::process::Output, arguments: &[S]) -> Self {
        let words: Vec<_> = arguments.iter().map(|word| word.as_ref().to_string_lossy()).collect();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = Self {
            line: words.join(" "),
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        };
        let marked = [&ran.stdout, &ran.stderr].map(|text| text.contains("`§"));
        assert_eq!(marked, [false; 2], "a name is written with the engine's mark: {ran:#?}");
        ran
    }

    /// Exit code 0.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// An error with this exit code, nothing on standard output, and all of `parts` in the
    /// message.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, parts: &[&str]) -> Self {
        let ran = self.exits(code);
        assert_eq!(ran.stdout, "", "{ran:#?}");
        assert!(ran.stderr.lines().any(|line| line.starts_with("error: ")), "{ran:#?}");
        for part in parts {
            assert!(ran.stderr.contains(part), "`{part}` is not in {ran:#?}");
        }
        assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
        ran
    }

    /// The one JSON value on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// The text with everything that differs from run to run replaced: long hexadecimal numbers,
/// times, and the private figures of the work.
pub(crate) fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        match line.split_once("diagnostics (depend on private data; do not publish): ") {
            Some((before, _)) => {
                steady.push_str(before);
                steady.push_str("diagnostics (depend on private data; do not publish): [work]");
            }
            None => steady.push_str(&steady_words(line)),
        }
        steady.push('\n');
    }
    steady
}

fn steady_words(line: &str) -> String {
    let mut steady = String::new();
    let mut word = String::new();
    let end = |word: &mut String, steady: &mut String| {
        let fraction = steady.ends_with('.');
        let hex = word.len() >= 16 && !fraction && word.chars().all(|c| c.is_ascii_hexdigit());
        let time = word.len() == 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
        steady.push_str(if hex {
            "[hex]"
        } else if time {
            "[time]"
        } else {
            word
        });
        word.clear();
    };
    for c in line.chars() {
        if c.is_ascii_alphanumeric()
            || (c == ':' || c == '-')
                && word.len() >= 4
                && word.len() < 20
                && word.as_bytes()[..4].iter().all(u8::is_ascii_digit)
        {
            word.push(c);
        } else {
            end(&mut word, &mut steady);
            steady.push(c);
        }
    }
    end(&mut word, &mut steady);
    steady
}

#[test]
fn what_differs_is_replaced() {
    let text = "train-0123456789abcdef at 2026-01-02T03:04:05Z, 3 records\n\
                diagnostics (depend on private data; do not publish): 7 passes";
    assert_eq!(
        steady(text),
        "train-[hex] at [time], 3 records\ndiagnostics (depend on private data; do not publish): [work]\n"
    );
}
