// Numbers look as `attncalc compute` writes them: the same decimals, and ties to the even digit.

const SIGNS = { inf: "∞", "-inf": "−∞", nan: "NaN", 1: "✓", 0: "×" };

/** Write a number of the data in the notation of its stage. */
function write(value, notation = "decimals", digits = data.digits) {
  if (typeof value === "string") return SIGNS[value]; // also the truth values of `allowed`
  if (notation === "whole") return withoutMinusZero(value.toFixed(0));
  return withoutMinusZero(notation === "powers" ? power(value, digits) : fixed(value, digits));
}

/** toFixed rounds ties away from zero, Python to the even digit; 60 more decimals show whether it is a tie. */
function fixed(value, digits) {
  const size = Math.abs(value);
  const sign = value < 0 ? "-" : "";
  if (size >= 1e21) return sign + BigInt(size) + (digits ? "." + "0".repeat(digits) : "");
  return sign + evenly(size.toFixed(digits), size.toFixed(digits + 60), digits);
}

function power(value, digits) {
  const size = Math.abs(value);
  const [rounded, exponent] = size.toExponential(digits).split("e");
  const [exact, place] = size.toExponential(digits + 60).split("e");
  const mantissa = place === exponent ? evenly(rounded, exact, digits) : rounded;
  return `${value < 0 ? "-" : ""}${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

/** Round down instead of up where `exact` lies in the middle and `rounded` ends in an odd digit. */
function evenly(rounded, exact, digits) {
  const end = exact.indexOf(".") + 1 + digits;
  const tie = /^50*$/.test(exact.slice(end));
  if (!tie || !"13579".includes(rounded.at(-1))) return rounded;
  return exact.slice(0, digits ? end : end - 1);
}

const withoutMinusZero = (text) => (/^-[0.]+(e\+00)?$/.test(text) ? text.slice(1) : text);

/** Write a number as a factor or a summand: in parentheses when it is negative. */
const bracketed = (text) => (/^[-−]/.test(text) ? `(${text})` : text);

/** A number for drawing; what is not finite is nothing. */
const finite = (value) => (typeof value === "number" ? value : 0);
