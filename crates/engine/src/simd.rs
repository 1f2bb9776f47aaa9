//! Which instructions the kernels use, chosen once at run time.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use fearless_simd::Level;

/// The token of the path every machine of this architecture has.
#[cfg(target_arch = "x86_64")]
pub type Baseline = fearless_simd::Sse2;
#[cfg(target_arch = "aarch64")]
pub type Baseline = fearless_simd::Neon;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub type Baseline = fearless_simd::Fallback;

/// A set of instructions to compute with. Results agree between paths to rounding, and to the bit
/// within one.
#[derive(Clone, Copy, Debug)]
pub enum Path {
    /// AVX2 and FMA, on x86-64 machines that have them.
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::Avx2),
    /// What every machine of this architecture has: SSE2, NEON, or plain scalars.
    Portable(Baseline),
}

impl Path {
    /// The fastest path of this machine.
    pub fn best() -> Path {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = Level::new().as_avx2() {
            return Path::Avx2(token);
        }
        Path::portable()
    }

    /// The path without run-time choices.
    pub fn portable() -> Path {
        #[cfg(target_arch = "x86_64")]
        let token = Level::new().as_sse2();
        #[cfg(target_arch = "aarch64")]
        let token = Level::new().as_neon();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let token = Some(fearless_simd::Fallback::new());
        Path::Portable(token.unwrap_or_else(|| unreachable!("part of the architecture")))
    }

    /// A short name for reports.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(_) => "AVX2 + FMA",
            Path::Portable(_) => "portable",
        }
    }
}

/// Runs an expression with `$simd` bound to the path's token, compiled once for each path.
macro_rules! on_path {
    ($path:expr, $simd:ident => $body:expr) => {
        match $path {
            #[cfg(target_arch = "x86_64")]
            $crate::simd::Path::Avx2($simd) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            ),
            $crate::simd::Path::Portable($simd) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $body,
            ),
        }
    };
}
pub(crate) use on_path;
