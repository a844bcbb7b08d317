/**
 * YAML text to a JSON value, with its duplicate keys: what `application/yaml` bodies and apply patches are read with.
 *
 * Every JSON text is YAML, and JSON is what most clients send even then, so that is tried first. The YAML parser is
 * loaded at its first use: most processes never see YAML, and loading takes longer than starting up.
 */
import { badRequest, requestEntityTooLarge } from '#api'
import { decodeUtf8, readJson } from './read-json.ts'
import type { ParsedText } from './read-json.ts'
import { refuseDeepYaml } from './yaml-depth.ts'
import { YamlConverter } from './yaml-value.ts'
import type { Yaml } from './yaml-value.ts'

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
