/**
 * What can be wrong with a value when it is walked with its type: a place and a sentence, as clients know them.
 *
 * Walkers throw {@link TypedError}; what becomes of it depends on the request: an apply is refused with the text, an
 * update goes on without tracking.
 */
import { formatPath } from '../paths/element.ts'
import type { ElementPath } from '../paths/element.ts'

export interface TypedErrorDetail {
  /** `.spec.ports[0]`; empty for the value as a whole. */
  readonly path: string
  readonly message: string
}

export class TypedError extends Error {
  override readonly name = 'TypedError'

  constructor(mistakes: readonly TypedErrorDetail[]) {
    const lines = mistakes.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    super(lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n'))
  }
}

/** One thing wrong, at a place. */
export function typedError(path: ElementPath, message: string): TypedError {
  return new TypedError([{ path: formatPath(path), message }])
}

/** Values nested deeper than any request may carry are not walked: the stack has an end. */
const depthMax = 1100

export function requireShallow(path: ElementPath): void {
  if (path.length > depthMax) throw new TypedError([{ path: '', message: `nested more than ${depthMax} levels deep` }])
}
