/**
 * Source maps of compiled programs: the line of the source for a line of the compiled file.
 *
 * Node.js maps stacks itself when it was started with `--enable-source-maps`; programs rarely are, and it cannot be turned
 * on for files that are loaded already. So the map is read when an error of a compiled file is described.
 *
 * Invariants: it never throws; a file without a usable map has the place of the compiled file; each file is read once.
 */
import { readFileSync, statSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

interface SourcePlace {
  readonly path: string
  readonly line: number
  readonly column: number
}

const filesMax = 100
const bytesMax = 20_000_000
const mapComment = /^\/\/# sourceMappingURL=(\S+)\s*$/gm
const dataUrl = /^data:application\/json;(?:charset=[^;]+;)?base64,(.*)$/

interface LoadedMap {
  readonly map: SourceMap
  /** What the names of sources are relative to. */
  readonly folder: string
}

const loaded = new Map<string, LoadedMap | undefined>()

/** The place in the source; the given one when it is not known. */
export function sourcePlace(place: SourcePlace): SourcePlace {
  if (!/\.[cm]?js$/.test(place.path)) return place
  if (!loaded.has(place.path) && loaded.size < filesMax) loaded.set(place.path, load(place.path))
  const found = loaded.get(place.path)
  const entry = found?.map.findEntry(place.line - 1, place.column - 1)
  if (!found || !entry || !('originalSource' in entry)) return place
  const source = entry.originalSource
  return {
    path: source.startsWith('file:') ? fileURLToPath(source) : resolve(found.folder, source),
    line: entry.originalLine + 1,
    column: entry.originalColumn + 1,
  }
}

function load(path: string): LoadedMap | undefined {
  try {
    const url = [...read(path).matchAll(mapComment)].at(-1)?.[1]
    if (url === undefined) return undefined
    const inline = dataUrl.exec(url)?.[1]
    const mapPath = resolve(dirname(path), decodeURIComponent(inline === undefined ? url : ''))
    const text = inline === undefined ? read(mapPath) : Buffer.from(inline, 'base64').toString()
    const payload = JSON.parse(text) as SourceMapPayload
    const { sourceRoot = '' } = payload as { sourceRoot?: string }
    const folder = inline === undefined ? dirname(mapPath) : dirname(path)
    return { map: new SourceMap(payload), folder: resolve(folder, sourceRoot) }
  } catch {
    // A file that is gone, or no map: the place in the compiled file is better than nothing.
    return undefined
  }
}

function read(path: string): string {
  return statSync(path).size > bytesMax ? '' : readFileSync(path, 'utf8')
}
