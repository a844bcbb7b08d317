/**
 * The YAML reader for `application/yaml` bodies and apply patches: YAML text to a JSON value, with duplicate keys.
 *
 * Every JSON text is YAML, and most clients send JSON even with this media type, so JSON is tried first. The YAML parser
 * is loaded on first use: most processes never read YAML, and loading it takes longer than starting up.
 *
 * The parser recurses. When its stack overflows it throws a `RangeError`, but if a regular expression is being compiled at
 * that moment, the whole process ends. So {@link refuseDeepYaml} limits the nesting before the parser sees the text. It
 * looks at characters only and may mistake text inside of scalars for structure; its bounds are far above real documents.
 */
import type { LineCounter, YAMLParseError } from 'yaml'
import { badRequest, isRequestEntityTooLarge, requestEntityTooLarge } from '#api'
import { decodeUtf8, readJson, type ParsedText } from './json.ts'
import type { YamlThread } from './yaml-thread.ts'
import { YamlConverter, type Yaml } from './yaml-values.ts'

/** The limits of one text. */
export interface YamlLimits {
  readonly depthMax: number
  readonly aliasedMax: number
}

interface ReadYamlOptions {
  /**
   * Parse a long text in a thread. Not for simulations: their clock does not wait for threads.
   *
   * @default false
   */
  readonly inThread?: boolean
  /**
   * How deep lists and objects may be nested. The parser recurses, so the limit is lower than for JSON.
   *
   * @default 300
   */
  readonly depthMax?: number
  /**
   * The maximum size of text that is not JSON. Parsing a megabyte may take a second or two.
   *
   * @default 1 MiB
   */
  readonly bytesMax?: number
  /**
   * How many values a text that is JSON may have; see {@link readJson}.
   *
   * @default no limit
   */
  readonly valuesMax?: number
  /**
   * How much aliases may add to the value, in characters of JSON.
   *
   * @default 2 MiB
   */
  readonly aliasedMax?: number
}

/**
 * Reads the one document of a YAML text.
 *
 * @throws {ApiError} `BadRequest` for invalid YAML, `RequestEntityTooLarge` when it is too long.
 */
export async function readYaml(source: Uint8Array | string, options: ReadYamlOptions = {}): Promise<ParsedText> {
  const { depthMax = 300, bytesMax = 1024 * 1024, aliasedMax = 2 * 1024 * 1024, valuesMax = Infinity } = options
  const text = typeof source === 'string' ? source : decodeUtf8(source)
  const json = readAsJson(text, valuesMax)
  if (json) return json
  if (source.length > bytesMax) throw requestEntityTooLarge(`limit is ${bytesMax}`)
  refuseDeepYaml(text, depthMax)
  refuseManyTokens(text)
  const limits = { depthMax, aliasedMax }
  if (options.inThread === true && text.length > inThreadMin) {
    const parsed = await (await yamlThread()).parse(text, limits)
    if (parsed) return parsed
  }
  return parseYaml(text, limits)
}

/** Shorter texts take a few milliseconds. */
const inThreadMin = 16_384
let thread: YamlThread | undefined

/** Loaded with the first long text, as the parser is. */
async function yamlThread(): Promise<YamlThread> {
  const { YamlThread: Thread } = await import('./yaml-thread.ts')
  return (thread ??= new Thread())
}

/** Parses a text whose nesting is bounded. @throws {ApiError} `BadRequest` */
export async function parseYaml(text: string, limits: YamlLimits): Promise<ParsedText> {
  const yaml = await import('yaml')
  const converter = new YamlConverter(yaml, limits)
  return { value: converter.convert(parseOne(yaml, text)), duplicates: converter.duplicates }
}

/** A megabyte of a real document has about 60,000. */
const tokensMax = 150_000
const tokenCharacters = /[\n:,[{?#&*!|>-]/g
/** Anchors and tags in a row: the parser takes quadratic time for them, and a node has one of each. */
const manyMarks = /(?:[&!]\S*\s+){100}/

/** @throws {ApiError} `RequestEntityTooLarge` for a text of tiny tokens: each takes as much time as a long one. */
function refuseManyTokens(text: string): void {
  if (manyMarks.test(text)) throw badRequest('the YAML text has too many anchors or tags in a row')
  if (text.length <= tokensMax) return
  let tokens = 0
  tokenCharacters.lastIndex = 0
  while (tokenCharacters.test(text)) if (++tokens > tokensMax) break
  if (tokens > tokensMax) throw requestEntityTooLarge(`the YAML text has more than ${tokensMax} tokens`)
}

function readAsJson(text: string, valuesMax: number): ParsedText | undefined {
  if (!/^\s*\{\s*["}]/.test(text)) return undefined
  try {
    return readJson(text, { valuesMax })
  } catch (error) {
    if (isRequestEntityTooLarge(error)) throw error
    return undefined
  }
}

/** The contents of the only document; further documents must be empty. */
function parseOne(yaml: Yaml, text: string): unknown {
  const lines = new yaml.LineCounter()
  const [first, ...others] = parseAll(yaml, text, lines)
  if (first === undefined) return undefined
  const [error] = [first, ...others].flatMap(({ errors }) => errors)
  if (error) throw unreadable(error, lines)
  if (others.some(({ contents }) => !isEmpty(contents)))
    throw badRequest('error converting YAML to JSON: there must be one document, not several')
  return first.contents
}

/**
 * With the failsafe schema every scalar stays text; `resolvePlain` interprets it as Go does. The parser continues after an
 * error, and a pretty message takes time in proportion to its line: a long line with thousands of errors took seconds.
 */
const parserOptions = {
  schema: 'failsafe',
  version: '1.1',
  merge: false,
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
} as const

function parseAll(yaml: Yaml, text: string, lineCounter: LineCounter): ReturnType<Yaml['parseAllDocuments']> {
  // Each error that the parser collects would capture a stack that no one reads: a third of the time of a text of errors.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return yaml.parseAllDocuments(text, { ...parserOptions, lineCounter })
  } catch (error) {
    throw unreadable(error)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The error for a text that the parser refused. A stack overflow, thrown or reported, means excessive nesting. */
function unreadable(error: unknown, lines?: LineCounter): Error {
  const message = error instanceof Error ? error.message : ''
  if (/call stack/i.test(message)) return badRequest('the YAML text is nested too deeply', { cause: error })
  // Other lines of the message may quote the text, which may be long or secret.
  const [text = ''] = message.split('\n', 1)
  return badRequest(`error converting YAML to JSON: yaml: ${text.replace(/:$/, '')}${placeOf(error, lines)}`, {
    cause: error,
  })
}

function placeOf(error: unknown, lines: LineCounter | undefined): string {
  const position = lines && error instanceof Error && 'pos' in error ? (error as YAMLParseError).pos[0] : -1
  if (!lines || position < 0) return ''
  const { line, col } = lines.linePos(position)
  return ` at line ${line}, column ${col}`
}

function isEmpty(contents: unknown): boolean {
  return contents === null || (typeof contents === 'object' && 'source' in contents && contents.source === '')
}

/** As many as kube-apiserver reports. */
const warningsMax = 100

/** The duplicate keys of a YAML text, as strict decoding of an apply patch reports them: `line 7: key "a" already set in map`. */
export async function duplicateYamlKeys(source: Uint8Array): Promise<string[]> {
  const yaml: Yaml = await import('yaml')
  const lines = new yaml.LineCounter()
  const [document] = yaml.parseAllDocuments(decodeUtf8(source), { ...parserOptions, lineCounter: lines })
  const warnings: string[] = []
  if (document === undefined || !('contents' in document)) return warnings
  yaml.visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue
        const name = String(key.value)
        if (seen.has(name) && warnings.length < warningsMax)
          warnings.push(
            `line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${JSON.stringify(name)} already set in map`,
          )
        seen.add(name)
      }
    },
  })
  return warnings
}

/** How many brackets may be open; quoted ones count too. */
const bracketsMax = 1000

const [space, dash, question, newline, openList, closeList, openMap, closeMap] = [
  0x20, 0x2d, 0x3f, 0x0a, 0x5b, 0x5d, 0x7b, 0x7d,
]

/** @throws {ApiError} `BadRequest` when the text may be nested deeper than `depthMax`. */
export function refuseDeepYaml(text: string, depthMax: number): void {
  const indents: number[] = []
  const brackets = new BracketCount()
  for (let at = 0; at < text.length;) {
    const { indent, markers, next } = lineStart(text, at)
    if (text.charCodeAt(next) !== newline && next < text.length) {
      while ((indents.at(-1) ?? -1) >= indent) indents.pop()
      indents.push(indent)
    }
    if (indents.length + markers > depthMax) throw tooDeep()
    for (at = next; at < text.length && text.charCodeAt(at) !== newline; at++) brackets.add(text.charCodeAt(at))
    at++
  }
}

/** Counts brackets, also in quotes: the bounds are far above real documents. */
class BracketCount {
  #open = 0
  #surplus = 0

  /** @throws {ApiError} `BadRequest` */
  add(code: number): void {
    if (code === openList || code === openMap) {
      if (++this.#open > bracketsMax) throw tooDeep()
    } else if (code === closeList || code === closeMap) {
      if (this.#open > 0) this.#open--
      // The parser takes quadratic time and memory for brackets that close nothing.
      else if (++this.#surplus > bracketsMax) throw badRequest('the YAML text has too many closing brackets')
    }
  }
}

/** The indentation and the list and key markers at the start of a line: `- - - x` opens three lists. */
function lineStart(text: string, start: number): { indent: number; markers: number; next: number } {
  let next = start
  let markers = 0
  while (text.charCodeAt(next) === space) next++
  const indent = next - start
  for (;;) {
    const code = text.charCodeAt(next)
    const after = text.charCodeAt(next + 1)
    if (!((code === dash || code === question) && (after === space || after === newline || next + 1 >= text.length)))
      return { indent, markers, next }
    markers++
    next++
    while (text.charCodeAt(next) === space) next++
  }
}

function tooDeep(): Error {
  return badRequest('the YAML text is nested too deeply')
}
