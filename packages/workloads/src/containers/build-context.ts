/**
 * The files of a build: a folder without what `.dockerignore` excludes, as a tar archive.
 *
 * Worked example of `.dockerignore`, later lines win:
 *
 *   node_modules      the folder at the top, with everything in it
 *   logs/*.log        files in one folder
 *   !logs/keep.log    but not this one
 *   # a comment
 *
 * A star does not match a slash, `?` is one character, two stars are any number of folders. The Dockerfile and `.dockerignore`
 * are always sent, because the build needs them.
 *
 * Invariant: nothing outside the folder is read; a symbolic link is sent as a link.
 */
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { RuntimeError } from './container-runtime.ts'
import { writeTar, type TarEntry } from './tar-writer.ts'

interface Pattern {
  readonly expression: RegExp
  readonly isException: boolean
}

/** What a `.dockerignore` says about paths. */
interface Ignore {
  isExcluded(path: string): boolean
  /** Whether an excluded folder may have files that are not. */
  mayHold(folder: string): boolean
}

/** Reads the lines of a `.dockerignore`. `kept` are sent in any case. */
export function parseIgnore(text: string, kept: readonly string[] = []): Ignore {
  const patterns = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap(patternOf)
  const hasExceptions = patterns.some(({ isException }) => isException)
  return {
    isExcluded: (path) =>
      !kept.includes(path) && patterns.findLast(({ expression }) => expression.test(path))?.isException === false,
    mayHold: (folder) => hasExceptions || kept.some((path) => path.startsWith(`${folder}/`)),
  }
}

function patternOf(line: string): readonly Pattern[] {
  const isException = line.startsWith('!')
  const path = (isException ? line.slice(1).trim() : line)
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
  if (path === '') return []
  // A pattern for a folder covers what is in it.
  return [{ expression: new RegExp(`^${expressionOf(path)}(?:/.*)?$`), isException }]
}

function expressionOf(path: string): string {
  return path.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|\\]/g, (found) => {
    if (found === '**/') return '(?:.*/)?'
    if (found === '**') return '.*'
    if (found === '*') return '[^/]*'
    if (found === '?') return '[^/]'
    return `\\${found}`
  })
}

interface ContextOptions {
  readonly folder: string
  readonly dockerfile: string
}

/** The archive of a build context. @throws a RuntimeError `BuildFailed` that names what is missing */
export async function* tarOfContext({ folder, dockerfile }: ContextOptions): AsyncGenerator<Uint8Array> {
  const found = await lstat(folder).catch(() => undefined)
  if (!found?.isDirectory())
    throw new RuntimeError('BuildFailed', `the build context ${folder} is not a folder: correct spec.build.context`)
  if (!(await lstat(join(folder, dockerfile)).catch(() => undefined)))
    throw new RuntimeError(
      'BuildFailed',
      `${join(folder, dockerfile)} does not exist: create it, or correct spec.build.dockerfile`,
    )
  const text = await readFile(join(folder, '.dockerignore'), 'utf8').catch(() => '')
  yield* writeTar(entriesOf(folder, parseIgnore(text, [dockerfile, '.dockerignore'])))
}

async function* entriesOf(folder: string, ignore: Ignore, below = ''): AsyncGenerator<TarEntry> {
  const names = (await readdir(join(folder, below))).sort()
  for (const name of names) {
    const path = below === '' ? name : `${below}/${name}`
    const isIgnored = ignore.isExcluded(path)
    const found = await lstat(join(folder, path))
    if (found.isDirectory()) {
      if (!isIgnored) yield { path, type: 'folder', mode: found.mode }
      // An exception may be below a folder that is excluded.
      if (!isIgnored || ignore.mayHold(path)) yield* entriesOf(folder, ignore, path)
    } else if (isIgnored) continue
    else if (found.isSymbolicLink())
      yield { path, type: 'link', mode: 0o777, target: await readlink(join(folder, path)) }
    else if (found.isFile())
      yield { path, type: 'file', mode: found.mode, size: found.size, content: createReadStream(join(folder, path)) }
  }
}
