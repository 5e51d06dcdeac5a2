//! Rules as a WebAssembly module.

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use referee_game::erased::{RulesFailed, RulesWait};
use referee_game::excerpt::excerpt;
use referee_game::{Chain, Wrong};
use referee_transport::{LongComputation, is_interrupted};
use wasmtime::{
    Config, Enabled, Engine, ExternType, FuncType, Instance, InstanceAllocationStrategy, Module, OptLevel,
    PoolingAllocationConfig, RegallocAlgorithm, ResourceLimiter, Store, Trap, TypedFunc, ValType,
    WasmFeatures, WasmParams, WasmResults,
};

use crate::{Carrier, MOST_ANSWER, Manifest, Restarts};

/// The maximum size of the memory of an instance, in bytes.
const MOST_MEMORY: usize = 256 << 20;
/// The maximum number of tables of an instance, and of the elements of each.
const MOST_TABLES: usize = 16;
const MOST_ELEMENTS: usize = 1 << 20;
/// The maximum size of the stack of an instance, in bytes.
const MOST_STACK: usize = 512 << 10;
/// The fuel of a millisecond of a limit: an instruction takes about one unit.
const FUEL_PER_MS: u64 = 1_000_000;
/// The fuel after which to look whether the run is interrupted, and whether bots of other matches have answered.
const SLICE: u64 = FUEL_PER_MS / 4;
/// The maximum fuel of an instantiation, in which there is no such look.
const MOST_START: u64 = FUEL_PER_MS;
/// The maximum fuel of what says why an instance has trapped.
const MOST_ERROR: u64 = 20 * FUEL_PER_MS;
/// The characters of an answer, and the bytes of a trap's reason, that a failure quotes.
const QUOTED: usize = 400;
/// The maximum number of instances whose memory is reused. A thread has one at a time.
const POOLED: u32 = 1000;
/// The maximum number of elements of the only table of such an instance.
const POOLED_ELEMENTS: usize = 20_000;
/// The maximum number of unused places that keep the memory of the module that used them last.
const POOLED_UNUSED: u32 = 16;
/// The part of a memory, and of a table, that is reset by writing, in bytes; the rest goes back to the operating system.
const KEPT_MEMORY: usize = 4 << 20;
const KEPT_WITHOUT_SCAN: usize = 256 << 10;
const KEPT_TABLE: usize = 64 << 10;
/// The address space reserved beyond a memory that is not reused, in bytes: a memory that outgrows it is copied.
const RESERVED: u64 = 64 << 20;

/// The maximum size of the code of a module, in bytes: what compiles it takes up to ten seconds of a processor for each MiB.
const MOST_CODE: usize = 4 << 20;
/// The sections of a module that have its memory and its code.
const MEMORY_SECTION: u8 = 5;
const CODE_SECTION: u8 = 10;

/// The exports of a module beside its memory.
const ALLOC: &str = "alloc";
const HANDLE: &str = "handle";
const MEMORY: &str = "memory";
const INITIALIZE: &str = "_initialize";
const ERROR: &str = "error";

/// Instances whose memory is reused: only pages that were written are reset.
static POOL: LazyLock<Option<Engine>> =
    LazyLock::new(|| pool(PoolingAllocationConfig::is_pagemap_scan_available()));

/// Instances with a memory of a page, which is reset as a whole: a search for written pages takes longer.
static SMALL_POOL: LazyLock<Option<Engine>> = LazyLock::new(|| pool(false));

/// Reserves terabytes of address space, of which some machines have less.
fn pool(scans: bool) -> Option<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(POOLED).total_memories(POOLED).total_tables(POOLED).total_stacks(POOLED);
    pool.table_elements(POOLED_ELEMENTS).max_unused_warm_slots(POOLED_UNUSED);
    pool.pagemap_scan(if scans { Enabled::Yes } else { Enabled::No });
    pool.linear_memory_keep_resident(if scans { KEPT_MEMORY } else { KEPT_WITHOUT_SCAN });
    pool.table_keep_resident(KEPT_TABLE);
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).ok()
}

/// Instances with memory of their own, for modules that do not fit into the pool and machines without it.
static APART: LazyLock<Result<Engine, wasmtime::Error>> = LazyLock::new(|| {
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    config.memory_reservation(0).memory_guard_size(0).memory_reservation_for_growth(RESERVED);
    Engine::new(&config)
});

fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .max_wasm_stack(MOST_STACK)
        .async_stack_size(2 * MOST_STACK)
        .wasm_backtrace_max_frames(None);
    // What compiles modules is not optimised itself in a development build, and takes seconds for small ones.
    if cfg!(debug_assertions) {
        config
            .cranelift_opt_level(OptLevel::None)
            .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    }
    // A NaN has the same bits everywhere.
    config.cranelift_nan_canonicalization(true);
    let features = WasmFeatures::WASM2 | WasmFeatures::TAIL_CALL | WasmFeatures::EXTENDED_CONST;
    config.wasm_features(!features | WasmFeatures::SIMD, false);
    config
}

/// A number in a module, and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    // Seven bits in a byte, the lowest first; the last one has no eighth bit.
    let last = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let (digits, rest) = bytes.split_at(last + 1);
    Some((digits.iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f)), rest))
}

/// The size of a section of a module, in bytes, and what begins with its content.
fn section(module: &[u8], id: u8) -> Option<(usize, &[u8])> {
    // After the magic number and the version.
    let mut rest = module.get(8..)?;
    loop {
        let (&section, after) = rest.split_first()?;
        let (size, content) = number(after)?;
        if section == id {
            return Some((size, content));
        }
        rest = content.get(size..)?;
    }
}

/// The initial size of the memory of a module, in pages.
fn memory_pages(module: &[u8]) -> Option<usize> {
    let (_, content) = section(module, MEMORY_SECTION)?;
    // After the number of memories and the kind of limits.
    Some(number(content.get(2..)?)?.0)
}

fn compile(bytes: &[u8]) -> wasmtime::Result<Module> {
    let pool = if memory_pages(bytes).is_some_and(|pages| pages <= 1) { &SMALL_POOL } else { &POOL };
    if let Some(pool) = &**pool
        && let Ok(module) = Module::from_binary(pool, bytes)
    {
        return Ok(module);
    }
    match &*APART {
        Ok(apart) => Module::from_binary(apart, bytes),
        Err(error) => Err(wasmtime::Error::msg(error.to_string())),
    }
}

/// A WebAssembly module that answers requests. Each request gets an instance of its own, so that an answer depends on the
/// request alone.
#[derive(Debug)]
pub struct WasmModule {
    name: String,
    module: Module,
    /// The fuel of a request, with the instantiation.
    fuel: u64,
}

/// Reasons why an instance has not answered a request.
#[derive(Debug, thiserror::Error)]
enum Trapped {
    #[error("{0}")]
    Failed(String),
    #[error("{trap}: {why}")]
    Because { trap: String, why: String },
    #[error("it used more than {0} units of fuel")]
    OutOfFuel(u64),
    #[error("the run was interrupted")]
    Interrupted,
    #[error(transparent)]
    Unwatched(#[from] std::io::Error),
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    #[error("`{ALLOC}` returned {offset}, where its memory of {size} bytes has no room for {length}")]
    Allocated { offset: u32, length: u32, size: usize },
    #[error("`{HANDLE}` returned an answer of {length} bytes at {offset}, beyond its memory of {size} bytes")]
    Beyond { offset: u32, length: u32, size: usize },
    #[error("its answer has {0} bytes; it has at most {MOST_ANSWER}")]
    LongAnswer(u32),
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("it needs more than {} MiB of memory, or larger tables", MOST_MEMORY >> 20)]
struct OutOfMemory;

impl From<wasmtime::Error> for Trapped {
    fn from(error: wasmtime::Error) -> Trapped {
        Trapped::Failed(error.to_string().trim_start_matches("wasm trap: ").to_owned())
    }
}

/// Classifies the error of an instance that began with this fuel.
fn trapped(error: wasmtime::Error, fuel: u64) -> Trapped {
    match error.downcast_ref() {
        Some(Trap::OutOfFuel) => Trapped::OutOfFuel(fuel),
        _ if error.is::<OutOfMemory>() => Trapped::OutOfMemory(OutOfMemory),
        _ => error.into(),
    }
}

impl WasmModule {
    /// Compiles a module. `name` is its file, `manifest` has its limits.
    ///
    /// # Errors
    /// If it is not valid, imports something, or does not export what rules export.
    pub fn new(name: &str, bytes: &[u8], manifest: &Manifest) -> Result<WasmModule, Wrong> {
        if let Some((size, _)) = section(bytes, CODE_SECTION).filter(|(size, _)| *size > MOST_CODE) {
            return Err(format!("its code has {size} bytes; it has at most {MOST_CODE}").into());
        }
        let module = compile(bytes).map_err(|error| match bytes.trim_ascii_start() {
            [b'(', ..] | [b';', b';', ..] => {
                Wrong::new("not a valid WebAssembly module: it is text; `wat2wasm` makes a module of it")
            }
            [0x1f, 0x8b, ..] => {
                Wrong::new("not a valid WebAssembly module: it is compressed; `gunzip` makes a module of it")
            }
            _ => Wrong::at("not a valid WebAssembly module", error.root_cause().to_string()),
        })?;
        if let Some(import) = module.imports().next() {
            let (module, name) = (import.module(), import.name());
            return Err(format!("it imports `{module}.{name}`; rules import nothing").into());
        }
        let function = |name, (params, results): (&[ValType], &[ValType])| {
            let expected = FuncType::new(module.engine(), params.iter().cloned(), results.iter().cloned());
            matches!(module.get_export(name), Some(ExternType::Func(of)) if FuncType::eq(&of, &expected))
        };
        if !matches!(module.get_export(MEMORY), Some(ExternType::Memory(_))) {
            return Err("it does not export `memory`, its memory".into());
        }
        if !function(ALLOC, (&[ValType::I32], &[ValType::I32])) {
            return Err("it does not export `alloc`, a function from i32 to i32".into());
        }
        if !function(HANDLE, (&[ValType::I32, ValType::I32], &[ValType::I64])) {
            return Err("it does not export `handle`, a function from two i32 to i64".into());
        }
        if module.get_export(INITIALIZE).is_some() && !function(INITIALIZE, (&[], &[])) {
            return Err(
                "it does not export `_initialize` as a function without parameters and results".into()
            );
        }
        if module.get_export(ERROR).is_some() && !function(ERROR, (&[], &[ValType::I64])) {
            return Err("it does not export `error` as a function to i64".into());
        }
        Ok(WasmModule { name: name.to_owned(), module, fuel: manifest.limit_ms * FUEL_PER_MS })
    }

    /// Answers a request with a fresh instance.
    fn answer(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<(), Trapped> {
        let mut store = Store::new(self.module.engine(), Limits { is_running: false });
        store.limiter(|limits| limits);
        let fuel = self.fuel.min(MOST_START);
        store.set_fuel(fuel)?;
        let instance = Instance::new(&mut store, &self.module, &[]).map_err(|error| trapped(error, fuel))?;
        store.set_fuel(self.fuel - (fuel - store.get_fuel()?))?;
        store.fuel_async_yield_interval(Some(SLICE))?;
        store.data_mut().is_running = true;
        let mut running = RunningModule { store, fuel: self.fuel, computation: LongComputation::default() };
        running.answer(&instance, request, accept).map_err(|error| match error {
            Trapped::Failed(trap) => match running.why(&instance) {
                Some(why) => Trapped::Because { trap, why },
                None => Trapped::Failed(trap),
            },
            other => other,
        })
    }
}

/// Limits that end an instance: a module that could see them could make its answers depend on them.
#[derive(Debug)]
struct Limits {
    /// Whether the instance is ready. From then on its tables keep their sizes: those that are reused have less room.
    is_running: bool,
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, _: usize, to: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        let may_grow = to <= most.unwrap_or(MOST_MEMORY).min(MOST_MEMORY);
        may_grow.then_some(true).ok_or_else(|| OutOfMemory.into())
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        Err(OutOfMemory.into())
    }

    fn table_growing(&mut self, _: usize, to: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        let may_grow = !self.is_running && to <= most.unwrap_or(MOST_ELEMENTS).min(MOST_ELEMENTS);
        may_grow.then_some(true).ok_or_else(|| OutOfMemory.into())
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        Err(OutOfMemory.into())
    }

    fn tables(&self) -> usize {
        MOST_TABLES
    }
}

/// A module that answers a request.
struct RunningModule {
    store: Store<Limits>,
    fuel: u64,
    computation: LongComputation,
}

impl RunningModule {
    fn answer(
        &mut self,
        instance: &Instance,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<(), Trapped> {
        if instance.get_func(&mut self.store, INITIALIZE).is_some() {
            self.call::<(), ()>(instance, INITIALIZE, ())?;
        }
        // The length of a request is bounded by those of states and moves.
        let length = request.len() as u32;
        let at: u32 = self.call(instance, ALLOC, length)?;
        let memory = instance.get_memory(&mut self.store, MEMORY).expect("a module of rules exports it");
        if memory.write(&mut self.store, at as usize, request).is_err() {
            let size = memory.data_size(&self.store);
            return Err(Trapped::Allocated { offset: at, length, size });
        }
        let (offset, length) = text_at(self.call(instance, HANDLE, (at, length))?);
        if length as usize > MOST_ANSWER {
            return Err(Trapped::LongAnswer(length));
        }
        let data = memory.data(&self.store);
        let from = offset as usize;
        let Some(answer) = data.get(from..from + length as usize) else {
            return Err(Trapped::Beyond { offset, length, size: data.len() });
        };
        accept(answer).map_err(|what| {
            let answer = excerpt(&String::from_utf8_lossy(answer), QUOTED).into_owned();
            Trapped::Failed(format!("{}, in the answer {answer}", Chain(&what)))
        })
    }

    /// The module's own words for a trap.
    fn why(&mut self, instance: &Instance) -> Option<String> {
        let memory = instance.get_memory(&mut self.store, MEMORY)?;
        instance.get_func(&mut self.store, ERROR)?;
        self.store.set_fuel(self.store.get_fuel().ok()?.min(MOST_ERROR)).ok()?;
        let (offset, length) = text_at(self.call(instance, ERROR, ()).ok()?);
        let from = offset as usize;
        let text = memory.data(&self.store).get(from..from + length as usize)?;
        let text = String::from_utf8_lossy(&text[..text.len().min(QUOTED)]);
        Some(text.into_owned()).filter(|text| !text.is_empty())
    }

    /// Calls an exported function, in slices.
    fn call<P: WasmParams + Sync, R: WasmResults + Sync>(
        &mut self,
        instance: &Instance,
        name: &str,
        params: P,
    ) -> Result<R, Trapped> {
        let function: TypedFunc<P, R> = instance.get_typed_func(&mut self.store, name)?;
        let mut call = pin!(function.call_async(&mut self.store, params));
        loop {
            match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(result) => return result.map_err(|error| trapped(error, self.fuel)),
                Poll::Pending if self.computation.look()? => return Err(Trapped::Interrupted),
                Poll::Pending => {}
            }
        }
    }
}

/// The offset and the length in what a module returns for a text.
fn text_at(packed: u64) -> (u32, u32) {
    ((packed >> 32) as u32, packed as u32)
}

impl Carrier for WasmModule {
    /// Returns how a thread waits: between parts of its computation, a module looks at the streams of its thread.
    fn wait(&self) -> RulesWait {
        if cfg!(target_os = "linux") { RulesWait::Watching } else { RulesWait::Computing }
    }

    /// Asks once: another instance would give the same answer.
    fn ask(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<Restarts, RulesFailed> {
        if is_interrupted() {
            return Err(RulesFailed::Interrupted);
        }
        match self.answer(request, accept) {
            Ok(()) => Ok(Restarts::default()),
            Err(Trapped::Interrupted) => Err(RulesFailed::Interrupted),
            Err(what) => Err(RulesFailed::Because(format!("{}: {what}", self.name).into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "protocol = 1\nid = \"toy\"\ntitle = \"Toy\"\nversion = 1\nwasm = \"toy.wasm\"\nseats = 2\nreasons = [\"won\"]\n";

    /// The default `alloc`, which has requests written at 1024.
    const ALLOC: &str = r#"(func (export "alloc") (param i32) (result i32) (i32.const 1024))"#;
    /// Answers `{"x":1}`.
    const HANDLE: &str = r#"(data (i32.const 16) "{\22x\22:1}")
        (func (export "handle") (param i32 i32) (result i64) (i64.const 0x1000000007))"#;
    const MEMORY: &str = r#"(memory (export "memory") 1)"#;

    fn module(parts: &[&str]) -> Result<WasmModule, Wrong> {
        let bytes = wat::parse_str(format!("(module {})", parts.concat())).expect("WebAssembly text");
        let manifest = Manifest::read(&format!("{MANIFEST}limit_ms = 20")).expect("a manifest");
        WasmModule::new("toy.wasm", &bytes, &manifest)
    }

    fn ask(module: &WasmModule, request: &str) -> Result<String, RulesFailed> {
        let mut got = String::new();
        module.ask(request.as_bytes(), &mut |answer| {
            got = serde_json::from_slice::<serde_json::Value>(answer)?.to_string();
            Ok(())
        })?;
        Ok(got)
    }

    fn failure(parts: &[&str]) -> String {
        ask(&module(parts).expect("a module of rules"), "{}").expect_err("a failure").to_string()
    }

    fn refusal(parts: &[&str]) -> String {
        Chain(&module(parts).expect_err("a refusal")).to_string()
    }

    #[test]
    fn a_request_gets_the_answer_of_the_module() {
        let echo = r#"(func (export "handle") (param i32 i32) (result i64)
            (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1))))"#;
        let echo = module(&[MEMORY, ALLOC, echo]).expect("a module of rules");
        assert_eq!(ask(&echo, r#"{"type":"start"}"#).expect("an answer"), r#"{"type":"start"}"#);
        let fixed = module(&[MEMORY, ALLOC, HANDLE]).expect("a module of rules");
        assert_eq!(ask(&fixed, "{}").expect("an answer"), r#"{"x":1}"#);
    }

    #[test]
    fn a_module_remembers_nothing() {
        let counts = r#"(global $asked (mut i32) (i32.const 0)) (data (i32.const 16) "0")
            (func (export "handle") (param i32 i32) (result i64)
                (global.set $asked (i32.add (global.get $asked) (i32.const 1)))
                (i32.store8 (i32.const 16) (i32.add (i32.load8_u (i32.const 16)) (global.get $asked)))
                (i64.const 0x1000000001))"#;
        let counts = module(&[MEMORY, ALLOC, counts]).expect("a module of rules");
        for _ in 0..3 {
            assert_eq!(ask(&counts, "{}").expect("an answer"), "1");
        }
    }

    #[test]
    fn modules_that_cannot_be_rules_are_refused() {
        let import = r#"(import "env" "abort" (func (param i32)))"#;
        assert_eq!(refusal(&[import, MEMORY, ALLOC, HANDLE]), "it imports `env.abort`; rules import nothing");
        let memory = r#"(import "env" "memory" (memory 1)) (export "memory" (memory 0))"#;
        assert!(refusal(&[memory, ALLOC, HANDLE]).contains("`env.memory`"));
        assert!(refusal(&["(memory 1)", ALLOC, HANDLE]).contains("`memory`"));
        assert!(refusal(&[MEMORY, HANDLE]).contains("`alloc`, a function from i32 to i32"));
        let other = r#"(func (export "handle") (param i32 i32) (result i32) (i32.const 0))"#;
        assert!(refusal(&[MEMORY, ALLOC, other]).contains("`handle`, a function from two i32 to i64"));
        let manifest = Manifest::read(MANIFEST).expect("a manifest");
        let refused = |bytes: &[u8]| {
            let text =
                Chain(&WasmModule::new("toy.wasm", bytes, &manifest).expect_err("a refusal")).to_string();
            text.strip_prefix("not a valid WebAssembly module: ").expect("it says so").to_owned()
        };
        assert!(refused(b"\n (module)").starts_with("it is text; `wat2wasm`"));
        assert!(refused(b"\x1f\x8b\x08\0").starts_with("it is compressed; `gunzip`"));
        assert!(!refused(b"\0asm").starts_with("it is "));
        let error = r#"(func (export "error") (result i32) (i32.const 0))"#;
        assert!(refusal(&[MEMORY, ALLOC, HANDLE, error]).contains("`error` as a function to i64"));
        let initialize = r#"(func (export "_initialize") (result i32) (i32.const 0))"#;
        assert!(
            refusal(&[MEMORY, ALLOC, HANDLE, initialize]).contains("`_initialize` as a function without")
        );
    }

    #[test]
    fn traps_are_failures_that_name_the_file() {
        let traps = r#"(func (export "handle") (param i32 i32) (result i64) unreachable)"#;
        let text = failure(&[MEMORY, ALLOC, traps]);
        assert!(text.contains("toy.wasm: ") && text.contains("unreachable"), "{text}");
        let starts = "(func $start unreachable) (start $start)";
        assert!(failure(&[MEMORY, ALLOC, HANDLE, starts]).contains("unreachable"));
        let recurses = r#"(func $f (export "handle") (param i32 i32) (result i64)
            (i64.add (i64.const 1) (call $f (local.get 0) (local.get 1))))"#;
        assert!(failure(&[MEMORY, ALLOC, recurses]).contains("stack"));
        let starts = "(func $again (call $again) (call $again)) (start $again)";
        assert!(failure(&[MEMORY, ALLOC, HANDLE, starts]).contains("stack"));
        let data = r#"(data (i32.const 65535) "xy")"#;
        assert!(failure(&[MEMORY, ALLOC, HANDLE, data]).contains("memory access"));
    }

    #[test]
    fn a_module_says_why_it_traps() {
        let traps = r#"(func (export "handle") (param i32 i32) (result i64) unreachable)"#;
        let says = r#"(data (i32.const 32) "no card 53") (func (export "error") (result i64) (i64.const 0x200000000a))"#;
        let text = failure(&[MEMORY, ALLOC, traps, says]);
        assert!(text.contains("unreachable") && text.ends_with(": no card 53"), "{text}");
        let traps_again = r#"(func (export "error") (result i64) unreachable)"#;
        assert!(failure(&[MEMORY, ALLOC, traps, traps_again]).contains("unreachable"));
        let beyond = r#"(func (export "error") (result i64) (i64.const -1))"#;
        assert!(failure(&[MEMORY, ALLOC, traps, beyond]).contains("unreachable"));
    }

    #[test]
    fn a_module_is_initialized_before_it_is_asked() {
        let initialized = r#"(data (i32.const 16) "0")
            (func (export "_initialize") (i32.store8 (i32.const 16) (i32.const 55)))
            (func (export "handle") (param i32 i32) (result i64) (i64.const 0x1000000001))"#;
        let initialized = module(&[MEMORY, ALLOC, initialized]).expect("a module of rules");
        assert_eq!(ask(&initialized, "{}").expect("an answer"), "7");
    }

    #[test]
    fn a_long_computation_is_resumed_where_its_slice_ended() {
        // The module grows its memory in between, which takes more fuel at once.
        let counts = r#"(data (i32.const 16) "0")
            (func (export "handle") (param i32 i32) (result i64) (local $i i32)
                (loop $again
                    (local.set $i (i32.add (local.get $i) (i32.const 1)))
                    (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 1000000)))
                        (then (drop (memory.grow (i32.const 30)))))
                    (br_if $again (i32.lt_u (local.get $i) (i32.const 50000000))))
                (i32.store8 (i32.const 16)
                    (i32.add (i32.const 48) (i32.div_u (memory.size) (i32.const 300))))
                (i64.const 0x1000000001))"#;
        let bytes = wat::parse_str(format!("(module {MEMORY}{ALLOC}{counts})")).expect("WebAssembly text");
        let manifest = Manifest::read(&format!("{MANIFEST}limit_ms = 2000")).expect("a manifest");
        let counts = WasmModule::new("toy.wasm", &bytes, &manifest).expect("a module of rules");
        // 1 + 50 * 30 pages.
        assert_eq!(ask(&counts, "{}").expect("an answer"), "5");
    }

    #[test]
    fn endless_loops_run_out_of_fuel() {
        let loops = r#"(func (export "handle") (param i32 i32) (result i64) (loop (br 0)) unreachable)"#;
        let text = failure(&[MEMORY, ALLOC, loops]);
        assert!(text.contains("it used more than 20000000 units of fuel"), "{text}");
        let starts = "(func $start (loop (br 0))) (start $start)";
        let text = failure(&[MEMORY, ALLOC, HANDLE, starts]);
        assert!(text.contains("it used more than 1000000 units of fuel"), "{text}");
    }

    #[test]
    fn memory_is_limited_by_trap_that_module_does_not_see() {
        let expected = "it needs more than 256 MiB of memory";
        let grows = r#"(func (export "handle") (param i32 i32) (result i64)
            (loop (drop (memory.grow (i32.const 100))) (br 0)) unreachable)"#;
        let text = failure(&[MEMORY, ALLOC, grows]);
        assert!(text.contains(expected), "{text}");
        let text = failure(&[r#"(memory (export "memory") 5000)"#, ALLOC, HANDLE]);
        assert!(text.contains(expected), "{text}");
        let table = "(table 2000000 funcref)";
        assert!(failure(&[MEMORY, ALLOC, HANDLE, table]).contains(expected));
    }

    #[test]
    fn pointers_beyond_the_memory_are_failures() {
        let alloc = r#"(func (export "alloc") (param i32) (result i32) (i32.const -1))"#;
        let text = failure(&[MEMORY, alloc, HANDLE]);
        assert!(text.contains("`alloc` returned 4294967295") && text.contains("65536 bytes"), "{text}");
        let handle = |packed: &str| {
            format!(r#"(func (export "handle") (param i32 i32) (result i64) (i64.const {packed}))"#)
        };
        let text = failure(&[MEMORY, ALLOC, &handle("0xffffffff00000010")]);
        assert!(text.contains("an answer of 16 bytes at 4294967295"), "{text}");
        let text = failure(&[MEMORY, ALLOC, &handle("0x0000fff000000011")]);
        assert!(text.contains("an answer of 17 bytes at 65520"), "{text}");
        let text = failure(&[MEMORY, ALLOC, &handle("-1")]);
        assert!(text.contains("its answer has 4294967295 bytes; it has at most 1048576"), "{text}");
    }

    #[test]
    fn answers_that_are_no_text_are_failures() {
        let bytes = r#"(data (i32.const 16) "\22\ff\22")
            (func (export "handle") (param i32 i32) (result i64) (i64.const 0x1000000003))"#;
        let text = failure(&[MEMORY, ALLOC, bytes]);
        assert!(text.contains("invalid unicode"), "{text}");
    }

    #[test]
    fn no_instance_sees_what_another_wrote() {
        // The module answers whether the memory at 16 MiB is 0, and writes there, and at 64 KiB and in a table.
        let writes = r#"(table 10 funcref) (elem declare func $handle) (data (i32.const 16) "0")
            (func $handle (export "handle") (param i32 i32) (result i64)
                (drop (memory.grow (i32.const 320)))
                (i32.store8 (i32.const 16) (i32.add (i32.const 48) (i32.add
                    (i32.and (i32.eqz (i32.load (i32.const 0x1000000))) (i32.eqz (i32.load (i32.const 0x10000))))
                    (ref.is_null (table.get 0 (i32.const 3))))))
                (i32.store (i32.const 0x1000000) (i32.const 7))
                (i32.store (i32.const 0x10000) (i32.const 7))
                (table.set 0 (i32.const 3) (ref.func $handle))
                (i64.const 0x1000000001))"#;
        for memory in [MEMORY, r#"(memory (export "memory") 2)"#] {
            let first = module(&[memory, ALLOC, writes]).expect("a module of rules");
            let second = module(&[memory, ALLOC, writes, "(func)"]).expect("a module of rules");
            for asked in [&first, &first, &second, &second, &first] {
                assert_eq!(ask(asked, "{}").expect("an answer"), "2");
            }
        }
    }

    #[test]
    fn a_module_that_does_not_fit_into_the_pool_answers() {
        let tables = "(table 30000 funcref) (table 10 funcref)";
        let large = module(&[MEMORY, ALLOC, HANDLE, tables]).expect("a module of rules");
        assert_eq!(ask(&large, "{}").expect("an answer"), r#"{"x":1}"#);
        let grows = r#"(func (export "handle") (param i32 i32) (result i64)
            (loop (drop (memory.grow (i32.const 100))) (br 0)) unreachable)"#;
        assert!(failure(&[MEMORY, ALLOC, grows, tables]).contains("256 MiB"));
        let beyond = r#"(func (export "handle") (param i32 i32) (result i64) (i64.load (i32.const -8)))"#;
        assert!(failure(&[MEMORY, ALLOC, beyond, tables]).contains("out of bounds memory access"));
    }

    #[test]
    fn a_nan_has_the_same_bits_on_every_machine() {
        let divides = r#"(data (i32.const 16) "0")
            (func (export "handle") (param i32 i32) (result i64)
                (i32.store8 (i32.const 16) (i32.add (i32.const 48) (i32.eq (i32.const 0x7fc00000)
                    (i32.reinterpret_f32 (f32.div (f32.convert_i32_u (local.get 0)) (f32.const nan:0x200001))))))
                (i64.const 0x1000000001))"#;
        let divides = module(&[MEMORY, ALLOC, divides]).expect("a module of rules");
        assert_eq!(ask(&divides, "{}").expect("an answer"), "1");
    }

    #[test]
    fn copies_and_fills_use_fuel_for_each_byte() {
        let fills = r#"(func (export "handle") (param i32 i32) (result i64)
            (loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 0xff0000)) (br 0)) unreachable)"#;
        let text = failure(&[r#"(memory (export "memory") 256)"#, ALLOC, fills]);
        assert!(text.contains("it used more than 20000000 units of fuel"), "{text}");
    }

    #[test]
    fn long_code_and_vectors_are_refused() {
        let manifest = Manifest::read(MANIFEST).expect("a manifest");
        let long = b"\0asm\x01\0\0\0\x0a\x81\x80\x80\x02";
        let text = Chain(&WasmModule::new("toy.wasm", long, &manifest).expect_err("a refusal")).to_string();
        assert_eq!(text, "its code has 4194305 bytes; it has at most 4194304");
        let vectors = "(func (drop (v128.const i64x2 0 0)))";
        assert!(refusal(&[MEMORY, ALLOC, HANDLE, vectors]).starts_with("not a valid WebAssembly module: "));
    }
}
