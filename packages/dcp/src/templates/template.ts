/**
 * Templates in variables, arguments and probes: the part of Go's text templates that applications use.
 *
 *   {{- portForServing "web" -}}                a function and its arguments; the dashes remove blanks around the action
 *   {{ index .Annotations "otel-service-name" }}     a field of the object, and an entry of it
 *   {{ .Name | print }}   {{ (portFor "db") }}  a pipe passes its value as the last argument
 *   {{/* nothing *\/}}    {{ "text" }}  {{ 3 }}
 *
 * Invariant: a text that is no template of this form is its own value, as braces may mean something to its program.
 */
import type { Values } from '../rules/field-values.ts'

/** A value of a template, or an error that ends it. */
export type TemplateFunction = (...values: readonly unknown[]) => unknown

interface TemplateContext {
  readonly functions: Readonly<Record<string, TemplateFunction>>
  /** What a path that begins with a dot is read from. */
  readonly object: Values
}

/** A template cannot have a value: it names something that does not exist, or does not make sense. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** The value of a text. @throws what a function throws; {@link TemplateError} for a path or a function that does not exist */
export function renderTemplate(text: string, context: TemplateContext): string {
  if (!text.includes('{{')) return text
  const parts = parse(text)
  return parts ? parts.map((part) => (typeof part === 'string' ? part : show(evaluate(part, context)))).join('') : text
}

/** One command of a pipe: its words. A word is a literal, a path, a name, or a pipe in brackets. */
type Word =
  | { readonly literal: string | number | boolean }
  | { readonly path: readonly string[] }
  | { readonly name: string }
  | { readonly pipe: Pipe }
type Pipe = readonly (readonly Word[])[]

/** Text and actions; undefined for a text that is no template. */
function parse(text: string): (string | Pipe)[] | undefined {
  const parts: (string | Pipe)[] = []
  let [rest, trimsNext] = [text, false]
  const addText = (piece: string, { trimsEnd }: { readonly trimsEnd: boolean }): void => {
    const begun = trimsNext ? piece.trimStart() : piece
    parts.push(trimsEnd ? begun.trimEnd() : begun)
  }
  for (;;) {
    const start = rest.indexOf('{{')
    if (start < 0) break
    const action = readAction(rest.slice(start + 2))
    if (!action) return undefined
    addText(rest.slice(0, start), { trimsEnd: action.trimsBefore })
    if (action.pipe) parts.push(action.pipe)
    trimsNext = action.trimsAfter
    rest = rest.slice(start + 2 + action.length)
  }
  addText(rest, { trimsEnd: false })
  return parts
}

interface Action {
  readonly pipe: Pipe | undefined
  readonly length: number
  readonly trimsBefore: boolean
  readonly trimsAfter: boolean
}

const comment = /^\/\*[\s\S]*?\*\//
const token = /^(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|[-+]?\d+(?:\.\d+)?|(?:\.[A-Za-z_]\w*)+|\.(?=[\s)|}])|[A-Za-z_]\w*|[()|])/

/** What is between the braces, from after the first ones. */
function readAction(source: string): Action | undefined {
  const trimsBefore = /^-\s/.test(source)
  let at = trimsBefore ? 1 : 0
  const tokens: string[] = []
  for (;;) {
    at += /^\s*/.exec(source.slice(at))?.[0].length ?? 0
    const left = source.slice(at)
    const trimsAfter = left.startsWith('-}}') && /\s/.test(source[at - 1] ?? '')
    if (trimsAfter || left.startsWith('}}')) {
      const length = at + (trimsAfter ? 3 : 2)
      if (tokens.length === 0) return undefined
      const isComment = tokens.every((one) => one.startsWith('/*'))
      const pipe = isComment ? undefined : parsePipe(tokens)
      return isComment || pipe ? { pipe, length, trimsBefore, trimsAfter } : undefined
    }
    const found = (comment.exec(left) ?? token.exec(left))?.[0]
    if (found === undefined) return undefined
    tokens.push(found)
    at += found.length
  }
}

function parsePipe(tokens: readonly string[]): Pipe | undefined {
  const queue = [...tokens]
  const pipe = takePipe(queue)
  return queue.length === 0 ? pipe : undefined
}

/** Takes the words of a pipe, up to the end or to a closing bracket. */
function takePipe(queue: string[]): Pipe | undefined {
  const commands: Word[][] = [[]]
  for (let next = queue[0]; next !== undefined && next !== ')'; next = queue[0]) {
    queue.shift()
    if (next === '|') commands.push([])
    else {
      const word = next === '(' ? bracketed(queue) : wordOf(next)
      if (!word) return undefined
      commands.at(-1)?.push(word)
    }
  }
  return commands.every((words) => words.length > 0) ? commands : undefined
}

function bracketed(queue: string[]): Word | undefined {
  const pipe = takePipe(queue)
  return pipe && queue.shift() === ')' ? { pipe } : undefined
}

function wordOf(text: string): Word | undefined {
  if (text.startsWith('"')) {
    const literal = unquote(text)
    return literal === undefined ? undefined : { literal }
  }
  if (text.startsWith('`')) return { literal: text.slice(1, -1) }
  if (/^[-+]?\d/.test(text)) return { literal: Number(text) }
  if (text.startsWith('.')) return { path: text.split('.').filter((name) => name !== '') }
  if (text === 'true' || text === 'false') return { literal: text === 'true' }
  return keywords.has(text) ? undefined : { name: text }
}

/** Statements: no application uses them. */
const keywords: ReadonlySet<string> = new Set([
  'if',
  'else',
  'end',
  'range',
  'with',
  'define',
  'template',
  'block',
  'break',
  'continue',
  'nil',
])

function unquote(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}

function evaluate(pipe: Pipe, context: TemplateContext): unknown {
  let value: unknown
  for (const [index, [first, ...others]] of pipe.entries()) {
    const given = [...others.map((word) => valueOf(word, context)), ...(index > 0 ? [value] : [])]
    if (!first) continue
    if ('name' in first) value = call(first.name, given, context)
    else if (given.length > 0) throw new TemplateError('only a function takes arguments')
    else value = valueOf(first, context)
  }
  return value
}

function valueOf(word: Word, context: TemplateContext): unknown {
  if ('literal' in word) return word.literal
  if ('path' in word) return readPath(word.path, context.object)
  if ('pipe' in word) return evaluate(word.pipe, context)
  return call(word.name, [], context)
}

function call(name: string, given: readonly unknown[], { functions }: TemplateContext): unknown {
  const known = Object.hasOwn(functions, name) ? functions[name] : builtins[name]
  if (!known) throw new TemplateError(`there is no function ${name}`)
  return known(...given)
}

const builtins: Readonly<Record<string, TemplateFunction>> = {
  index: (from, ...keys) => keys.reduce((value, key) => entryOf(value, key), from),
  print: (...values) => values.map(show).join(''),
  len: (value) => (typeof value === 'string' || Array.isArray(value) ? value.length : Object.keys(value ?? {}).length),
}

function entryOf(value: unknown, key: unknown): unknown {
  // A key that a map does not have has the empty value.
  if (value === undefined) return ''
  if (Array.isArray(value)) {
    const found: unknown = value[Number(key)]
    if (found === undefined) throw new TemplateError(`there is no item ${String(key)}`)
    return found
  }
  if (typeof value !== 'object' || value === null) throw new TemplateError('only lists and maps have entries')
  return Object.hasOwn(value, String(key)) ? (value as Values)[String(key)] : ''
}

/** Fields that every object has at its top: those of its metadata. */
const ofMetadata: ReadonlySet<string> = new Set(['name', 'namespace', 'uid', 'labels', 'annotations', 'generation'])

/** `.Spec.ExecutablePath`, `.Name`, `.ObjectMeta.Labels`: names as in Go, which begin with a capital letter. */
function readPath(path: readonly string[], object: Values): unknown {
  const names = path.map((name) => (name === 'ObjectMeta' ? 'metadata' : fieldName(name)))
  const [first = ''] = names
  let value: unknown = object
  for (const name of ofMetadata.has(first) ? ['metadata', ...names] : names) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new TemplateError(`there is no field .${path.join('.')}`)
    value = (value as Values)[name]
  }
  return value
}

/** `ExecutablePath` → `executablePath`, `PID` → `pid`, `UID` → `uid` */
function fieldName(name: string): string {
  return /^[A-Z]+$/.test(name) ? name.toLowerCase() : `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`
}

function show(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
