//! Which instructions the kernels use, chosen once at run time.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use fearless_simd::Level;

/// The token of the level every machine of this architecture has.
#[cfg(target_arch = "x86_64")]
pub type Baseline = fearless_simd::Sse2;
#[cfg(target_arch = "aarch64")]
pub type Baseline = fearless_simd::Neon;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub type Baseline = fearless_simd::Fallback;

/// A set of instructions to compute with. Results agree between levels to rounding, and to the bit
/// within one.
#[derive(Clone, Copy, Debug)]
pub enum SimdLevel {
    /// AVX2 and FMA, on x86-64 machines that have them.
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::Avx2),
    /// What every machine of this architecture has: SSE2, NEON, or plain scalars.
    Portable(Baseline),
}

impl SimdLevel {
    /// The highest level of this machine.
    pub fn best() -> SimdLevel {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = Level::new().as_avx2() {
            return SimdLevel::Avx2(token);
        }
        SimdLevel::portable()
    }

    /// The level without run-time choices.
    pub fn portable() -> SimdLevel {
        #[cfg(target_arch = "x86_64")]
        let token = Level::new().as_sse2();
        #[cfg(target_arch = "aarch64")]
        let token = Level::new().as_neon();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let token = Some(fearless_simd::Fallback::new());
        SimdLevel::Portable(token.unwrap_or_else(|| unreachable!("part of the architecture")))
    }

    /// A short name for reports.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2(_) => "AVX2 + FMA",
            SimdLevel::Portable(_) => "portable",
        }
    }
}

/// Runs an expression with `$simd` bound to the token of a level, compiled once for each.
macro_rules! with_simd {
    ($level:expr, $simd:ident => $body:expr) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            $crate::simd::SimdLevel::Avx2($simd) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            ),
            $crate::simd::SimdLevel::Portable($simd) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            ),
        }
    };
}
pub(crate) use with_simd;
