/**
 * Explores what a module exports, on all cores: what `evenkeel explore FILE` does.
 */
import { pathToFileURL } from 'node:url'
import { explore } from '../explore.ts'
import type { Explored, ExploreOptions } from '../explore.ts'
import { loadExploreSubject, parseModuleReference } from './module.ts'

export type ExploreModuleOptions = Omit<ExploreOptions, 'controllers' | 'scenario' | 'module'>

/**
 * @param module a path, from the working folder, or a file: URL; `#name` at its end names an export
 * @throws {RangeError} when there is nothing to explore in it, or it cannot be played.
 */
export async function exploreModule(module: string | URL, options: ExploreModuleOptions = {}): Promise<Explored> {
  const { path, name } = parseModuleReference(module)
  const url = `${pathToFileURL(path).href}${name === undefined ? '' : `#${name}`}`
  return await explore({ ...options, ...(await loadExploreSubject(url)), module: url })
}
