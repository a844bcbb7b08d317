/**
 * Where in the user's code something was asked for: `reconcile.ts:41`.
 *
 * The first frame of the stack that is neither ours nor Node's. Taking a stack costs more than a step of the world, so
 * it is done only when a story will be told.
 */
import { fileURLToPath } from 'node:url'

// The whole package: where source maps are used, what is built says that it is a source.
const packageFolder = fileURLToPath(new URL('../../../', import.meta.url))
const interceptorFrames =
  /\/(?:base\/simulation\/machine|testing\/escapes\/(?:guard|resources)|testing\/life\/origin)\./
const stackDepth = 60

/**
 * The place in the user's code, if there is one on the stack.
 *
 * @param options `direct`: only if it is the caller, with nothing of ours in between
 */
export function originOf({ direct = false }: { direct?: boolean } = {}): string | undefined {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = stackDepth
  const { stack = '' } = new Error('where')
  Error.stackTraceLimit = before
  for (const line of stack.split('\n').slice(1)) {
    if (line.includes('node:internal') || /[( ]node:/.test(line)) continue
    const [, place] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*:\d+:\d+)\)?$/.exec(line) ?? []
    if (place === undefined) continue
    const path = place.startsWith('file://') ? place.slice('file://'.length) : place
    if (isOwnCode(path) && interceptorFrames.test(path)) continue
    if (direct && isOwnCode(path)) return undefined
    if (isOwnCode(path) || path.includes('/node_modules/')) continue
    return path.replace(/:\d+$/, '')
  }
  return undefined
}

/** Our own tests are somebody's programs. */
function isOwnCode(path: string): boolean {
  return path.startsWith(packageFolder) && !/\.test\.[jt]s/.test(path)
}
