/**
 * JSON pointers (RFC 6901): `/spec/containers/0/image`, where `~1` stands for `/` and `~0` for `~`.
 */

/** The steps of a pointer, outermost first; the empty pointer is the whole document. `undefined` when malformed. */
export function parsePointer(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function formatPointer(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
