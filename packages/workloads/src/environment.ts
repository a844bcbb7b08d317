/**
 * The environment of a process, and environment files.
 *
 * Later ones win: the environment of Evenkeel, environment files in their order, `spec.env`, the ports. Values go to the
 * process and nowhere else: a status, an event and a log show names.
 *
 * An environment file has one variable per line. Worked example:
 *
 *   # a comment                       nothing
 *   export GREETING=hello world  # x  GREETING is `hello world`; `export` is ignored, and so is a comment after a space
 *   QUOTED='a # b\n'                  single quotes: as it is
 *   LINES="one\ntwo                   double quotes: \n \r \t \" \\ are replaced; may span lines
 *   three"
 *   EMPTY=                            the empty text
 *
 * `$` means nothing, in files and in specs: no value is expanded. CRLF and a byte order mark are accepted.
 */

/** A mistake in an environment; the message says where and what to change. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError'
}

export interface Variable {
  readonly name: string
  readonly value: string
}

/** The kernel's limit for one variable, and ours for all of them: half of what Linux gives to arguments and environment. */
const [variableBytesMax, totalBytesMax] = [131_072, 1_048_576]

/**
 * Puts the parts together; later ones win.
 *
 * @throws {EnvironmentError} for a name or a value that no process can have
 */
export function makeEnvironment(
  ambient: Readonly<Record<string, string | undefined>>,
  parts: readonly (readonly Variable[])[],
): { readonly env: Readonly<Record<string, string>>; readonly duplicates: readonly string[] } {
  const env = new Map<string, string>()
  const duplicates = new Set<string>()
  for (const [name, value] of Object.entries(ambient)) if (value !== undefined) env.set(name, value)
  for (const part of parts) {
    const seen = new Set<string>()
    for (const variable of part) {
      checkVariable(variable)
      if (seen.has(variable.name)) duplicates.add(variable.name)
      seen.add(variable.name)
      env.set(variable.name, variable.value)
    }
  }
  const bytes = [...env].reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value) + 2, 0)
  if (bytes > totalBytesMax)
    throw new EnvironmentError(
      `the environment has ${bytes} bytes, more than ${totalBytesMax}: put large values into a file and pass its path`,
    )
  return { env: Object.fromEntries(env), duplicates: [...duplicates] }
}

function checkVariable({ name, value }: Variable): void {
  const shown = JSON.stringify(name.slice(0, 80))
  if (name === '' || /[=\0]/.test(name))
    throw new EnvironmentError(`the variable name ${shown} is empty or contains = or NUL: rename it`)
  if (value.includes('\0'))
    throw new EnvironmentError(
      `the value of the variable ${shown} contains a NUL character, which no process can receive`,
    )
  const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  if (bytes > variableBytesMax)
    throw new EnvironmentError(
      `the variable ${shown} has ${bytes} bytes, more than ${variableBytesMax} (MAX_ARG_STRLEN): put the value into a file and pass its path`,
    )
}

/** The variables of an environment file. @throws {EnvironmentError} that names the line */
export function parseEnvFile(text: string, path: string): readonly Variable[] {
  const variables: Variable[] = []
  const source = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  for (let at = 0; at < source.length;) {
    const lineEnd = endOfLine(source, at)
    const line = source.slice(at, lineEnd)
    const assignment = /^\s*(?:export\s+)?([^\s=#][^=]*?)\s*=[ \t]*/.exec(line)
    if (!assignment) {
      if (!/^\s*(?:#|$)/.test(line))
        throw new EnvironmentError(`${path}:${lineOf(source, at)}: write NAME=VALUE, or # before a comment`)
      at = lineEnd + 1
      continue
    }
    const { value, end } = readValue(source, { at: at + assignment[0].length, lineEnd, path })
    variables.push({ name: assignment[1] ?? '', value })
    at = end
  }
  return variables
}

interface ValuePlace {
  readonly at: number
  readonly lineEnd: number
  readonly path: string
}

/** A value, and where the next line begins. */
function readValue(
  source: string,
  { at, lineEnd, path }: ValuePlace,
): { readonly value: string; readonly end: number } {
  const quote = source[at]
  if (quote !== '"' && quote !== "'")
    return {
      value: source
        .slice(at, lineEnd)
        .replace(/(?:^|\s)#.*$/, '')
        .trim(),
      end: lineEnd + 1,
    }
  let close = at + 1
  while (close < source.length && source[close] !== quote) close += quote === '"' && source[close] === '\\' ? 2 : 1
  if (close >= source.length)
    throw new EnvironmentError(`${path}:${lineOf(source, at)}: the value has no closing ${quote}`)
  const raw = source.slice(at + 1, close)
  return { value: quote === '"' ? unescape(raw) : raw, end: endOfLine(source, close) + 1 }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' }

function unescape(text: string): string {
  return text.replace(/\\([nrt"\\])/g, (_, letter: string) => escapes[letter] ?? letter)
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at)
  return end < 0 ? source.length : end
}

function lineOf(source: string, at: number): number {
  return source.slice(0, at).split('\n').length
}
