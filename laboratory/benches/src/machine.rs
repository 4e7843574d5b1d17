//! The machine in words, and how much memory this process took.

use std::fs;

/// Cores, processor, and how busy the machine is.
pub(crate) fn description() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    let model = field("model name").unwrap_or_else(|| "unknown processor".to_owned());
    let flags = field("flags").unwrap_or_default();
    let vectors = ["avx512f", "avx2"].into_iter().find(|name| flags.split(' ').any(|f| f == *name));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    format!(
        "{cores} cores, {model} ({}), load average {load} at the start",
        vectors.unwrap_or("no AVX2")
    )
}

/// The most memory this process has had, in bytes; `None` where the system does not tell.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Seconds that processors have worked for this process, on all cores together; `None` where the system
/// does not tell.
pub(crate) fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, which may hold spaces, ends with the last parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = |field: usize| fields.split_whitespace().nth(field)?.parse::<f64>().ok();
    // Fields 14 and 15 of the line, in user and in kernel mode, in the hundredths of a second that
    // Linux shows to programs.
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
