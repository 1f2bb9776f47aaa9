//! Which instructions the kernels use, chosen once at run time.
//!
//! One arithmetic for all of them: products are chains of fused multiply-adds, sums over rows have
//! eight lanes and a fixed order of reduction, whatever the width of a register. So a level decides
//! how fast a result comes, never its bits.

use std::{env, sync::OnceLock};

use fearless_simd::{Level, f32x8, f32x16, mask32x8, mask32x16, prelude::*, u32x8, u32x16};

use crate::Error;

/// The token of the level every machine of this architecture has.
#[cfg(target_arch = "x86_64")]
type Baseline = fearless_simd::Sse2;
#[cfg(target_arch = "aarch64")]
type Baseline = fearless_simd::Neon;
#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
type Baseline = fearless_simd::WasmSimd128;
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_family = "wasm", target_feature = "simd128")
)))]
type Baseline = fearless_simd::Fallback;

/// A set of instructions to compute with. All give the same bits.
#[derive(Clone, Copy, Debug)]
pub struct SimdLevel(pub(crate) Token);

/// Proof that this machine has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token {
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::Avx2),
    Portable(Baseline),
}

impl SimdLevel {
    /// The environment variable that overrides the choice, by [`SimdLevel::name`].
    pub const VARIABLE: &str = "PGN_SIMD";

    /// The levels of this machine, the fastest first.
    pub fn all() -> Vec<SimdLevel> {
        let level = Level::new();
        #[cfg(target_arch = "x86_64")]
        let tokens = [
            level.as_avx512().map(Token::Avx512),
            level.as_avx2().map(Token::Avx2),
            level.as_sse2().map(Token::Portable),
        ];
        #[cfg(target_arch = "aarch64")]
        let tokens = [level.as_neon().map(Token::Portable)];
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        let tokens = [level.as_wasm_simd128().map(Token::Portable)];
        #[cfg(not(any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            all(target_family = "wasm", target_feature = "simd128")
        )))]
        let tokens = [level.is_fallback().then(|| Token::Portable(Baseline::new()))];
        tokens.into_iter().flatten().map(SimdLevel).collect()
    }

    /// The level that [`SimdLevel::VARIABLE`] names, else the fastest of this machine.
    pub fn chosen() -> Result<SimdLevel, Error> {
        let levels = SimdLevel::all();
        let Some(name) = env::var_os(SimdLevel::VARIABLE) else { return Ok(levels[0]) };
        levels.iter().copied().find(|level| name == level.name()).ok_or_else(|| {
            let names: Vec<_> = levels.iter().map(|level| level.name()).collect();
            Error::Input(format!(
                "{} is {name:?}; this machine has {}",
                SimdLevel::VARIABLE,
                names.join(", ")
            ))
        })
    }

    /// The level of this process, chosen once; the fastest where `PGN_SIMD` is wrong, which programs
    /// report when they start.
    pub fn best() -> SimdLevel {
        static BEST: OnceLock<SimdLevel> = OnceLock::new();
        *BEST.get_or_init(|| SimdLevel::chosen().unwrap_or_else(|_| SimdLevel::all()[0]))
    }

    /// The level every machine of this architecture has: NEON, or SSE2 with fused multiply-adds in
    /// software.
    pub fn portable() -> SimdLevel {
        SimdLevel::all()[SimdLevel::all().len() - 1]
    }

    /// `avx512`, `avx2` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Token::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Token::Avx2(_) => "avx2",
            Token::Portable(_) => "portable",
        }
    }
}

/// A vector of f32, with the u32 that go with its lanes.
pub trait Vector<S: Simd>:
    SimdFloat<S, Element = f32, Mask = Self::Lanes, Bits = Self::Numbers>
{
    type Lanes: SimdMask<S, Element = i32> + Select<Self> + Select<Self::Numbers>;
    type Numbers: SimdInt<S, Element = u32, Mask = Self::Lanes>;
}

impl<S: Simd> Vector<S> for f32x8<S> {
    type Lanes = mask32x8<S>;
    type Numbers = u32x8<S>;
}

impl<S: Simd> Vector<S> for f32x16<S> {
    type Lanes = mask32x16<S>;
    type Numbers = u32x16<S>;
}

/// Runs an expression with `$simd` bound to the token of a level, compiled once for each.
macro_rules! with_simd {
    ($level:expr, $simd:ident => $body:expr) => {
        $crate::simd::with_simd!(
            $level, $simd => $body;
            #[cfg(target_arch = "x86_64")] Avx512,
            #[cfg(target_arch = "x86_64")] Avx2,
            #[cfg(true)] Portable
        )
    };
    ($level:expr, $simd:ident => $body:expr; $(#[$cfg:meta] $token:ident),*) => {
        match $level.0 {
            $(
                #[$cfg]
                $crate::simd::Token::$token($simd) => fearless_simd::Simd::vectorize(
                    $simd,
                    #[inline(always)]
                    || $body,
                ),
            )*
        }
    };
}
pub(crate) use with_simd;
