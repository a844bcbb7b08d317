/**
 * Where an error comes from, for people: the lines of the program, before those of this package and of Node.js.
 *
 *   TypeError: Cannot read properties of undefined (reading 'bar')
 *       at reconcile (app.ts:12:30)
 *       ... 5 lines of libraries and Node.js
 *     caused by Error: connect ECONNREFUSED 127.0.0.1:5432
 *       at connect (src/database.ts:7:9)
 *
 * Paths are relative to the working directory. Where only libraries are in a stack, their first lines are shown.
 * Everything here is bounded: a chain of causes may be long, or a circle.
 */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourcePlace } from './source-maps.ts'

interface StackFrame {
  /** `reconcile`; empty for code at the top level. */
  readonly name: string
  /** A path relative to the working directory, or `node:…`. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** A line of the program, and not of a library. */
  readonly isOwn: boolean
  /** A line of this package. */
  readonly isPackage: boolean
}

const causesMax = 5
const ownFramesMax = 10
const otherFramesMax = 4

const withName = /^\s*at (?:async )?(.*?) \((.*):(\d+):(\d+)\)$/
const withoutName = /^\s*at (?:async )?(.*):(\d+):(\d+)$/

/** The folder with the code of this package, as stacks show it. */
const packageFolder = folderOf(import.meta.url)

/**
 * `app.ts:12`: the first line of the program in the stack of an error or of its causes.
 *
 * An error of this package that wraps another comes last: a failed call of a driver has the line of the driver, not that of
 * the `sync` that called it.
 */
export function placeOf(error: unknown): string | undefined {
  const stacks = chainOf(error).map(framesOf)
  const isWrapper = ([first]: readonly StackFrame[]): boolean => first?.isPackage === true
  for (const frames of [...stacks.filter((each) => !isWrapper(each)), ...stacks.filter(isWrapper)]) {
    const frame = frames.find(({ isOwn }) => isOwn)
    if (frame) return `${frame.file}:${frame.line}`
  }
  return undefined
}

/** An error with its stack and its causes, in lines. */
export function describeError(error: Error): string[] {
  return chainOf(error).flatMap((each, index) => {
    const title = `${index === 0 ? '' : '  caused by '}${titleOf(each)}`
    return [title, ...frameLines(framesOf(each))]
  })
}

function titleOf(error: Error): string {
  return error.message === '' ? error.name : `${error.name}: ${error.message}`
}

function frameLines(frames: readonly StackFrame[]): string[] {
  const own = frames.filter(({ isOwn }) => isOwn).slice(0, ownFramesMax)
  const shown = own.length > 0 ? own : frames.slice(0, otherFramesMax)
  const lines = shown.map(({ name, file, line, column }) => {
    const at = `${file}:${line}:${column}`
    return `    at ${name === '' ? at : `${name} (${at})`}`
  })
  const left = frames.length - shown.length
  return left > 0 ? [...lines, `    ... ${left} more ${left === 1 ? 'line' : 'lines'}`] : lines
}

/** An error and its causes, outermost first. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let each = error; each instanceof Error && chain.length < causesMax; each = each.cause) {
    if (chain.includes(each)) break
    chain.push(each)
  }
  return chain
}

function framesOf({ stack }: Error): StackFrame[] {
  if (typeof stack !== 'string') return []
  return stack.split('\n').flatMap((line) => frameOf(line) ?? [])
}

function frameOf(text: string): StackFrame | undefined {
  const named = withName.exec(text)
  const [, name = '', place = '', line = '', column = ''] = named ?? [
    '',
    '',
    ...(withoutName.exec(text) ?? []).slice(1),
  ]
  if (place === '') return undefined
  const compiled = place.startsWith('file:') ? pathOf(place) : place
  const isOwn = isProgram(compiled)
  const given = { path: compiled, line: Number(line), column: Number(column) }
  const found = isOwn ? sourcePlace(given) : given
  const isPackage = !isOwn && compiled.startsWith(packageFolder)
  return { name, file: shortened(found.path), line: found.line, column: found.column, isOwn, isPackage }
}

function isProgram(path: string): boolean {
  if (path.startsWith('node:') || path.includes('node_modules') || path === '<anonymous>' || path === 'native')
    return false
  // Tests lie beside the code.
  return !path.startsWith(packageFolder) || /\.test\.\w+$/.test(path)
}

function shortened(path: string): string {
  if (path.startsWith('node:')) return path
  const short = relative(process.cwd(), path)
  return short === '' || short.startsWith('..') ? path : short
}

/** A URL of another kind, or one with a query, stays as it is. */
function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}

function folderOf(url: string): string {
  const path = pathOf(url)
  const at = Math.max(path.lastIndexOf('/src/'), path.lastIndexOf('/dist/'), path.lastIndexOf('\\dist\\'))
  return at < 0 ? path : path.slice(0, at + 1)
}
