/**
 * Probabilities, computed from logits. In the server's 32-bit floats σ(20) is exactly 1; a logit
 * of 20 still says how far from certain the model is.
 */

/** σ(logit). */
export function sigmoid(logit: number): number {
  return logit >= 0 ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit) / (1 + Math.exp(logit));
}

/** σ(logit) in words: "0.93", "3·10⁻⁶", "1 − 2·10⁻⁹". Never 0 or 1 for a finite logit. */
export function probability(logit: number): string {
  const value = sigmoid(logit);
  if (value < 0.001) return power(Math.exp(logit));
  if (value > 0.999) return `1 − ${power(Math.exp(-logit))}`;
  return value.toFixed(3);
}

/** The probability of the answer that a model with this logit gives. */
export function certainty(logit: number): string {
  return probability(Math.abs(logit));
}

function power(value: number): string {
  if (value === 0) return '10⁻³⁰⁰';
  const exponent = Math.floor(Math.log10(value));
  const digit = Math.round(value / 10 ** exponent);
  // 9.6·10⁻⁷ rounds to 10·10⁻⁷.
  return digit === 10 ? `1·10${raised(exponent + 1)}` : `${digit}·10${raised(exponent)}`;
}

/** -5 → "⁻⁵". */
export function raised(exponent: number): string {
  return String(exponent).replace(/-/g, '⁻').replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]);
}
