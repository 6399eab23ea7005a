/**
 * JSON with whole numbers to the letter: those that a number cannot hold exactly are bigints.
 *
 * Both ways the common case is the built-in function, after or before a cheap look; only texts with long numbers take
 * the slow road.
 */

import { ToolError } from "./errors.js"

/** Stands before digits in a string that takes a bigint's place for a moment; nobody outside can know it. */
const MARK = `bigint ${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}:`
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g")

/** Every whole number beyond 2^53 has that many digits. */
const LONG = 16

const isDigit = (code: number) => code >= 48 && code <= 57

/** Whether so many digits stand in a row anywhere: looks at every 16th character first, one of which must be a digit. */
function hasLongDigits(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue
    let from = at
    let to = at + 1
    while (isDigit(text.charCodeAt(from - 1))) from -= 1
    while (isDigit(text.charCodeAt(to))) to += 1
    if (to - from >= LONG) return true
  }
  return false
}

/** The end of the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === "\\") escapes += 1
    if (escapes % 2 === 0) return end + 1
  }
  return text.length
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Puts marked strings in the place of long whole numbers. */
function mark(text: string): string {
  let marked = ""
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (code === 34) {
      at = endOfString(text, at)
    } else if (code === 45 || isDigit(code)) {
      NUMBER.lastIndex = at
      const number = NUMBER.exec(text)?.[0] ?? "-"
      if (/^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))) {
        marked += `${text.slice(copied, at)}"${MARK}${number}"`
        copied = at + number.length
      }
      at += number.length
    } else {
      at += 1
    }
  }
  return marked + text.slice(copied)
}

/** `JSON.parse`, in which whole numbers that a number cannot hold exactly become bigints. */
export function parse(text: string): any {
  if (!hasLongDigits(text)) return JSON.parse(text)
  return JSON.parse(mark(text), (_key, value) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  )
}

function checked(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${MARK}${value}`
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new ToolError(`the result holds ${value}${key && ` at '${key}'`}, which JSON cannot express`)
  }
  return value
}

/**
 * `JSON.stringify`, with bigints as whole numbers, and an error for NaN and infinities.
 *
 * @throws ToolError for a number that JSON does not have
 */
export function stringify(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
    // What JSON cannot express it calls null.
    if (text !== undefined && !text.includes("null")) return text
  } catch (error) {
    // A bigint, or something that no other way of writing would help.
    if (!(error instanceof TypeError)) throw error
  }
  text = JSON.stringify(value, checked)
  if (text === undefined) throw new TypeError(`${typeof value} is not a JSON value`)
  return text.replace(MARKED, "$1")
}
