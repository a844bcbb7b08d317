/**
 * JSON text to a value, with what a strict reader wants to know about it.
 *
 * The native parser does the parsing; it is the fastest there is and safe for keys such as `__proto__`. What it does not
 * do costs one quick pass over the text, which is known to be valid by then: how deep is it, and how many keys does it
 * have? If the value has as many, no key was there twice. Only otherwise are the duplicates looked for one by one.
 *
 * Invariants: bounded depth (so that whoever walks the value may recurse), no number that is not finite, no bytes that
 * are not UTF-8. Where a key is there twice the last one counts.
 */
import { badRequest, type JsonValue } from '#api'

export interface ParsedText {
  readonly value: JsonValue
  /** Paths of keys that were there more than once: `metadata.labels.a`, `spec.containers[0].name`. At most 100. */
  readonly duplicates: readonly string[]
}

interface ReadJsonOptions {
  /**
   * How many levels of lists and objects may lie in one another. Upstream allows 10,000; no object needs 100, and this
   * is few enough for recursive functions.
   *
   * @default 1000
   */
  readonly depthMax?: number
  /**
   * Whether duplicate keys are looked for. Not needed when nobody is told of them.
   *
   * @default true
   */
  readonly duplicates?: boolean
}

/**
 * Reads one JSON value.
 *
 * @throws {ApiError} `BadRequest` when it is not UTF-8, not JSON, or too deep.
 */
export function readJson(
  source: Uint8Array | string,
  { depthMax = 1000, duplicates = true }: ReadJsonOptions = {},
): ParsedText {
  const text = typeof source === 'string' ? source : decodeUtf8(source)
  const value = parse(text)
  const measured = measure(text)
  if (measured.depth > depthMax)
    throw badRequest(`exceeded max depth: the JSON text is nested more than ${depthMax} levels deep`)
  if (!measured.finite) throw badRequest('the JSON text has a number beyond the range of a float64')
  const twice = duplicates && measured.keys !== countKeys(value)
  return { value, duplicates: twice ? findDuplicates(text) : [] }
}

/** Bytes as text. @throws {ApiError} `BadRequest` when they are not UTF-8. */
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
    return JSON.parse(text) as JsonValue
  } catch (error) {
    if (text.trim() === '') throw badRequest('unexpected end of JSON input', { cause: error })
    // The engine quotes pieces of the text, which may be long or secret: only the place is passed on.
    const place = error instanceof Error ? /at position \d+|end of JSON input/i.exec(error.message)?.[0] : undefined
    throw badRequest(
      `invalid JSON${place === undefined ? '' : `: ${place.startsWith('at') ? 'unexpected character' : 'unexpected'} ${place}`}`,
      { cause: error },
    )
  }
}

interface Measured {
  depth: number
  keys: number
  finite: boolean
}

const [quoteCode, colon] = [0x22, 0x3a]

/** Strings are skipped with `indexOf`, which looks at many characters at a time; only what lies between them is read. */
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
      // Nothing shorter can be too large, unless it has an exponent.
      if ((end - index > 300 || hasExponent(text, index, end)) && !Number.isFinite(Number(text.slice(index, end))))
        measured.finite = false
      index = end - 1
    }
  }
  return measured
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

/** Every key of every object. The depth has been checked, so this may recurse. */
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

/*
 * Which keys of a JSON text are there twice, and where: the slow look, taken only when there are some.
 *
 * The text must be valid JSON. A frame per open list or object remembers where we are; nothing recurses.
 */

interface ContainerFrame {
  /** The keys so far, and whether they were met again; absent in a list. */
  readonly keys: Map<string, boolean> | undefined
  /** The step that leads to the value being read: a key or an index. */
  step: string | number
}

/** As many as upstream reports. */
const duplicatesMax = 100
/** How often a path is spelled out. Objects that are there twice themselves can make the same path over and over. */
const looksMax = 1000

interface DuplicateScan {
  readonly paths: Set<string>
  looks: number
}

/** The paths of keys that are there more than once, each once, in the order of the text. */
function findDuplicates(text: string): string[] {
  const found: DuplicateScan = { paths: new Set(), looks: 0 }
  const frames: ContainerFrame[] = []
  for (let index = 0; index < text.length && found.paths.size < duplicatesMax && found.looks < looksMax; index++) {
    const frame = frames.at(-1)
    switch (text[index]) {
      case '"': {
        const end = endOfString(text, index)
        if (frame?.keys !== undefined && isKey(text, end))
          noteKey(JSON.parse(text.slice(index, end + 1)) as string, frames, found)
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
  return [...found.paths]
}

/** In valid JSON a string followed by a colon is a key. */
function isKey(text: string, end: number): boolean {
  let index = end + 1
  while (' \t\r\n'.includes(text[index] ?? '.')) index++
  return text[index] === ':'
}

function noteKey(key: string, frames: readonly ContainerFrame[], found: DuplicateScan): void {
  const frame = frames.at(-1)
  if (frame?.keys === undefined) return
  frame.step = key
  const before = frame.keys.get(key)
  frame.keys.set(key, before !== undefined)
  if (before !== false) return
  found.looks++
  found.paths.add(formatPath(frames.map(({ step }) => step)))
}

/*
 * Where a string of a valid JSON text ends: found with `indexOf`, which looks at many characters at a time.
 */

/** The index of the quote that ends a string. The text is a JavaScript string here; `JsonScanner` does the same for bytes. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (text.charCodeAt(end - 1) === backslash && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** A character is escaped when an odd number of backslashes stands before it. */
function isEscaped(text: string, index: number): boolean {
  let start = index
  while (text.charCodeAt(start - 1) === backslash) start--
  return (index - start) % 2 === 1
}

const backslash = 0x5c

/** The place of a value in a text, as strict decoding errors write it: `metadata.labels.a/b`, `spec.containers[0].name`. */
export function formatPath(steps: readonly (string | number)[]): string {
  let path = ''
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`
  return path
}
