/**
 * Modules in TypeScript: newer Nodes read them by themselves; older ones through tsx, if the project has it.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Failure } from '../frame/failure.ts'

/** Makes it possible to import this file. Does nothing for other files. @throws {Failure} `bad-file` */
export async function readTypeScript(path: string): Promise<void> {
  if (
    !/\.[cm]?ts$/.test(path) ||
    (process.features as { typescript?: unknown }).typescript ||
    process.execArgv.some((argument) => argument.includes('tsx'))
  )
    return
  try {
    const loader = pathToFileURL(createRequire(path).resolve('tsx')).href
    await import(loader)
    // Processes that we start to share the work must read the same files, and are started with our own flags.
    process.execArgv.push('--import', loader)
  } catch (error) {
    throw new Failure('bad-file', `Node ${process.versions.node} does not read TypeScript by itself`, {
      cause: error,
      hint: 'npm install --save-dev tsx, or use Node 22.18 or newer',
    })
  }
}
