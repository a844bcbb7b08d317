/**
 * A strict JSON reader: parses untrusted text, limits its depth and reports duplicate keys.
 *
 * `JSON.parse` does the parsing; it is the fastest parser and safe for keys such as `__proto__`. Integers of 64 bits keep
 * their value (`parseJson`). One quick pass over the
 * valid text then measures its depth and counts its keys. If the value has as many keys, none was duplicated. Only
 * otherwise a slower scan finds the duplicates. Strings are skipped with `indexOf`, which compares many characters at once.
 *
 * Invariants: bounded depth (so that later functions may recurse), finite numbers only, valid UTF-8 only. The last of
 * duplicate keys wins.
 *
 * Example. `{"a":1,"b":{"c":2,"c":3}}`: the text has 4 keys, the value 3, so the scan runs and reports `b.c`.
 */
import { badRequest, endOfString, parseJson, requestEntityTooLarge, type JsonValue } from '#api'

export interface ParsedText {
  readonly value: JsonValue
  /** Paths of duplicate keys: `metadata.labels.a`, `spec.containers[0].name`. At most 100. */
  readonly duplicates: readonly string[]
}

interface ReadJsonOptions {
  /**
   * How deep lists and objects may be nested. Go allows 10,000; no object needs 100, and 1000 is safe for recursive
   * functions.
   *
   * @default 1000
   */
  readonly depthMax?: number
  /**
   * Whether to report duplicate keys.
   *
   * @default true
   */
  readonly duplicates?: boolean
  /**
   * How many values the text may have: keys, lists, objects, and a quarter for each further item of a list. Later steps
   * take several microseconds for each.
   *
   * @default no limit
   */
  readonly valuesMax?: number
}

/**
 * Reads one JSON value.
 *
 * @throws {ApiError} `BadRequest` when it is not UTF-8, not JSON, or too deep.
 */
export function readJson(
  source: Uint8Array | string,
  { depthMax = 1000, duplicates = true, valuesMax = Infinity }: ReadJsonOptions = {},
): ParsedText {
  const text = typeof source === 'string' ? source : decodeUtf8(source)
  // A value has two characters or more. Refused before it is parsed: a list of empty lists takes thirty times its length.
  if (text.length > 2 * valuesMax) refuseManyValues(text, valuesMax)
  const value = parse(text)
  const measured = measure(text)
  if (measured.depth > depthMax)
    throw badRequest(`exceeded max depth: the JSON text is nested more than ${depthMax} levels deep`)
  if (!measured.finite) throw badRequest('the JSON text has a number beyond the range of a float64')
  const hasDuplicates = duplicates && measured.keys !== countKeys(value)
  return { value, duplicates: hasDuplicates ? findKeys(text).map(({ path }) => path) : [] }
}

/** Decodes UTF-8. @throws {ApiError} `BadRequest` for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw badRequest('the body is not valid UTF-8', { cause: error })
  }
}

// A byte order mark is kept, so that the parser refuses it as Go's does.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parse(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (text.trim() === '') throw badRequest('unexpected end of JSON input', { cause: error })
    // The message of the engine quotes the text, which may be long or secret: only the position is reported.
    const position = error instanceof Error ? /at position \d+|end of JSON input/i.exec(error.message)?.[0] : undefined
    throw badRequest(
      `invalid JSON${position === undefined ? '' : `: ${position.startsWith('at') ? 'unexpected character' : 'unexpected'} ${position}`}`,
      { cause: error },
    )
  }
}

interface Measured {
  depth: number
  keys: number
  finite: boolean
}

const [quoteCode, colon, comma] = [0x22, 0x3a, 0x2c]

/** Measures valid JSON text; reads only the characters between strings. */
function measure(text: string): Measured {
  const measured = { depth: 0, keys: 0, finite: true }
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quoteCode) index = endOfString(text, index)
    else if (code === colon) measured.keys++
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > measured.depth) measured.depth = depth
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code >= 0x30 && code <= 0x39) {
      const end = endOfNumber(text, index)
      // A shorter number without an exponent is always finite.
      if ((end - index > 300 || hasExponent(text, index, end)) && !Number.isFinite(Number(text.slice(index, end))))
        measured.finite = false
      index = end - 1
    }
  }
  return measured
}

/** @throws {ApiError} `RequestEntityTooLarge`. Text that is not JSON passes: the parser says what is wrong. */
function refuseManyValues(text: string, valuesMax: number): void {
  let quarters = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quoteCode) {
      index = endOfString(text, index)
      if (index < 0) return
    } else if (code === comma) quarters++
    else if (code === colon || code === 0x7b || code === 0x5b) quarters += 4
    if (quarters > 4 * valuesMax) throw requestEntityTooLarge(`the document has more than ${valuesMax} values`)
  }
}

/**
 * Refuses a value from another format when its JSON text would be refused.
 *
 * @throws {ApiError} `RequestEntityTooLarge`
 */
export function checkValues(root: JsonValue, valuesMax: number): void {
  let quarters = 0
  const nodes: (JsonValue | undefined)[] = [root]
  while (nodes.length > 0) {
    const node = nodes.pop()
    if (typeof node !== 'object' || node === null) continue
    const children = Object.values(node) as readonly (JsonValue | undefined)[]
    quarters += 4 + (Array.isArray(node) ? 1 : 4) * children.length
    if (quarters > 4 * valuesMax) throw requestEntityTooLarge(`the document has more than ${valuesMax} values`)
    for (const child of children) if (typeof child === 'object') nodes.push(child)
  }
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && isNumberCode(text.charCodeAt(end))) end++
  return end
}

/** Digits, `.`, `+`, `-`, `e` and `E`. */
function isNumberCode(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d
  )
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x65 || code === 0x45) return true
  }
  return false
}

/** The number of keys of all objects. The depth has been checked, so this may recurse. */
function countKeys(value: JsonValue): number {
  let keys = 0
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) if (typeof item === 'object') keys += countKeys(item)
    return keys
  }
  for (const child of Object.values(value)) {
    keys++
    if (typeof child === 'object') keys += countKeys(child as JsonValue)
  }
  return keys
}

/** An open list or object of the duplicate scan. */
interface ContainerFrame {
  /** The keys so far, and whether they were reported; absent in a list. */
  readonly keys: Map<string, boolean> | undefined
  /** The key or index of the current value. */
  step: string | number
}

/** As many as kube-apiserver reports. */
const foundMax = 100
/** How many paths are formatted at most. Duplicated objects can yield the same path many times. */
const formattedMax = 1000

interface FoundKey {
  readonly path: string
  /** False for a wanted key. */
  readonly isDuplicate: boolean
}

interface KeyScan {
  readonly wanted: ReadonlySet<string>
  /** The last steps of the wanted paths: only these are formatted. */
  readonly steps: ReadonlySet<string>
  readonly found: Map<string, FoundKey>
  formatted: number
}

/**
 * The duplicate keys in valid JSON text and the first keys at the wanted paths, each path once, in text order. It uses a
 * stack of frames, no recursion.
 *
 * Example. `{"x":1,"a":1,"a":2}` with `x` wanted: `x`, then the duplicate `a`.
 */
export function findKeys(text: string, wanted: readonly string[] = []): FoundKey[] {
  const scan: KeyScan = {
    wanted: new Set(wanted),
    steps: new Set(wanted.map((path) => path.slice(path.lastIndexOf('.') + 1))),
    found: new Map(),
    formatted: 0,
  }
  const frames: ContainerFrame[] = []
  for (let index = 0; index < text.length && scan.found.size < foundMax && scan.formatted < formattedMax; index++) {
    const frame = frames.at(-1)
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index)
        if (frame?.keys !== undefined && isKey(text, end))
          noteKey(JSON.parse(text.slice(index, end + 1)) as string, frames, scan)
        index = end
        break
      }
      case '{':
        frames.push({ keys: new Map(), step: '' })
        break
      case '[':
        frames.push({ keys: undefined, step: 0 })
        break
      case '}':
      case ']':
        frames.pop()
        break
      case ',':
        if (typeof frame?.step === 'number') frame.step++
        break
      default:
        break
    }
  }
  return [...scan.found.values()]
}

/** In valid JSON a string followed by a colon is a key. */
function isKey(text: string, end: number): boolean {
  let index = end + 1
  while (' \t\r\n'.includes(text[index] ?? '.')) index++
  return text[index] === ':'
}

function noteKey(key: string, frames: readonly ContainerFrame[], scan: KeyScan): void {
  const frame = frames.at(-1)
  if (frame?.keys === undefined) return
  frame.step = key
  const before = frame.keys.get(key)
  frame.keys.set(key, before !== undefined)
  const isDuplicate = before === false
  // A key with a dot has another last step.
  if (!isDuplicate && (before !== undefined || !scan.steps.has(key.slice(key.lastIndexOf('.') + 1)))) return
  scan.formatted++
  const path = formatPath(frames.map(({ step }) => step))
  if ((isDuplicate || scan.wanted.has(path)) && !scan.found.has(path)) scan.found.set(path, { path, isDuplicate })
}

/** A path as strict decoding errors write it: `metadata.labels.a/b`, `spec.containers[0].name`. */
export function formatPath(steps: readonly (string | number)[]): string {
  let path = ''
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  return path
}
