/**
 * Where in the user's code something was asked for: `reconcile.ts:41`.
 *
 * The first frame of the stack that is neither ours nor Node's. Taking a stack costs more than a step of the world, so
 * it is done only when a story will be told.
 */
import { fileURLToPath } from 'node:url'

const ours = fileURLToPath(new URL('../../', import.meta.url))
const depth = 60

/** The place in the user's code, if there is one on the stack. */
export function originOf(): string | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = depth
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = before
  for (const line of stack.split('\n').slice(1)) {
    const [, place] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line) ?? []
    if (place === undefined) continue
    const path = place.startsWith('file://') ? place.slice('file://'.length) : place
    if (path.startsWith(ours) || path.includes('node:') || path.includes('/node_modules/')) continue
    return path.replace(/:\d+$/, '')
  }
  return undefined
}
