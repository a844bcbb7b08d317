/**
 * YAML text to a JSON value, with its duplicate keys: what `application/yaml` bodies and apply patches are read with.
 *
 * Every JSON text is YAML, and JSON is what most clients send even then, so that is tried first. The YAML parser is
 * loaded at its first use: most processes never see YAML, and loading takes longer than starting up.
 */
import { badRequest, requestEntityTooLarge } from '#api'
import { decodeUtf8, readJson, type ParsedText } from './json.ts'
import { YamlConverter, type Yaml } from './yaml-values.ts'

interface ReadYamlOptions {
  /**
   * How many levels of lists and objects may lie in one another. The parser recurses, so this is less than for JSON.
   *
   * @default 300
   */
  readonly depthMax?: number
  /**
   * How many bytes a text may have that is not JSON. Reading a megabyte may keep the process busy for a second or two.
   *
   * @default 1 MiB
   */
  readonly bytesMax?: number
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
 * @throws {ApiError} `BadRequest` when it cannot be read, `RequestEntityTooLarge` when it is too long.
 */
export async function readYaml(source: Uint8Array | string, options: ReadYamlOptions = {}): Promise<ParsedText> {
  const { depthMax = 300, bytesMax = 1024 * 1024, aliasedMax = 2 * 1024 * 1024 } = options
  const text = typeof source === 'string' ? source : decodeUtf8(source)
  const json = readAsJson(text)
  if (json) return json
  if (source.length > bytesMax) throw requestEntityTooLarge(`limit is ${bytesMax}`)
  refuseDeepYaml(text, depthMax)
  const yaml = await import('yaml')
  const converter = new YamlConverter(yaml, { depthMax, aliasedMax })
  return { value: converter.convert(parseOne(yaml, text)), duplicates: converter.duplicates }
}

function readAsJson(text: string): ParsedText | undefined {
  if (!/^\s*\{\s*["}]/.test(text)) return undefined
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

/** The contents of the only document; further ones may only be empty. */
function parseOne(yaml: Yaml, text: string): unknown {
  const [first, ...others] = parseAll(yaml, text)
  if (first === undefined) return undefined
  const [error] = [first, ...others].flatMap(({ errors }) => errors)
  if (error) throw unreadable(error)
  if (others.some(({ contents }) => !isEmpty(contents)))
    throw badRequest('error converting YAML to JSON: there must be one document, not several')
  return first.contents
}

function parseAll(yaml: Yaml, text: string): ReturnType<Yaml['parseAllDocuments']> {
  try {
    // With the failsafe schema every scalar stays text: what it means is decided here, as Go decides it.
    return yaml.parseAllDocuments(text, {
      schema: 'failsafe',
      version: '1.1',
      merge: false,
      uniqueKeys: false,
      logLevel: 'silent',
    })
  } catch (error) {
    throw unreadable(error)
  }
}

/** The parser recurses, and what its stack cannot hold is deeper than we allow; it may throw that or report it. */
function unreadable(error: unknown): Error {
  const message = error instanceof Error ? error.message : ''
  if (/call stack/i.test(message)) return badRequest('the YAML text is nested too deeply', { cause: error })
  // The rest of the message repeats lines of the text, which may be long or secret.
  return badRequest(`error converting YAML to JSON: yaml: ${message.split('\n', 1).join('').replace(/:$/, '')}`, {
    cause: error,
  })
}

function isEmpty(contents: unknown): boolean {
  return contents === null || (typeof contents === 'object' && 'source' in contents && contents.source === '')
}

/*
 * Keys that stand twice in a map of a YAML text, with the lines they stand in: what a strict reader of an applied
 * configuration complains about. Asked only when a reader has found that there are any.
 */

/** As many as upstream reports. */
const sentencesMax = 100

/** `line 7: key "a" already set in map`, in the order of the text. */
export async function duplicateYamlKeys(source: Uint8Array): Promise<string[]> {
  const yaml: Yaml = await import('yaml')
  const lines = new yaml.LineCounter()
  const [document] = yaml.parseAllDocuments(decodeUtf8(source), {
    schema: 'failsafe',
    version: '1.1',
    merge: false,
    uniqueKeys: false,
    logLevel: 'silent',
    lineCounter: lines,
  })
  const sentences: string[] = []
  if (document === undefined || !('contents' in document)) return sentences
  yaml.visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue
        const name = String(key.value)
        if (seen.has(name) && sentences.length < sentencesMax)
          sentences.push(
            `line ${lines.linePos(key.range?.[0] ?? 0).line}: key ${JSON.stringify(name)} already set in map`,
          )
        seen.add(name)
      }
    },
  })
  return sentences
}

/*
 * How deeply a YAML text can be nested at most, found without recursion before the parser sees it.
 *
 * The parser recurses. Where its stack ends a `RangeError` is thrown, but a pattern that happens to be compiled there
 * ends the whole process, so a text must never get that far. This looks at characters only and may take text inside of
 * scalars for structure: the bounds are far above what anybody writes.
 */

/** How many brackets may be open; quoted ones count as well. */
const bracketsMax = 1000

const [space, dash, question, newline, openList, closeList, openMap, closeMap] = [
  0x20, 0x2d, 0x3f, 0x0a, 0x5b, 0x5d, 0x7b, 0x7d,
]

/** @throws {ApiError} `BadRequest` when it may be nested more deeply than that. */
export function refuseDeepYaml(text: string, depthMax: number): void {
  const indents: number[] = []
  let brackets = 0
  for (let at = 0; at < text.length;) {
    const { indent, markers, next } = lineStart(text, at)
    if (text.charCodeAt(next) !== newline && next < text.length) {
      while ((indents.at(-1) ?? -1) >= indent) indents.pop()
      indents.push(indent)
    }
    if (indents.length + markers > depthMax) throw tooDeep()
    for (at = next; at < text.length && text.charCodeAt(at) !== newline; at++) {
      const code = text.charCodeAt(at)
      if (code === openList || code === openMap) brackets++
      else if (code === closeList || code === closeMap) brackets = Math.max(0, brackets - 1)
      if (brackets > bracketsMax) throw tooDeep()
    }
    at++
  }
}

/** The spaces and the markers of lists and keys that a line begins with: `- - - x` opens three lists. */
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
