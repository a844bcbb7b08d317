/**
 * Patterns for resources in admission rules: `pods`, `pods/status`, `pods/*`, `*`, `*` + `/scale`, and `*` on both sides.
 *
 * A pattern that another one covers already is a mistake.
 */
import { fieldError } from '#api'
import type { FieldError, FieldPath } from '#api'

const everything = '*/*'

export function validateResourcePatterns(patterns: readonly string[], path: FieldPath): FieldError[] {
  const errors = patterns.length === 0 ? [fieldError.required(path)] : []
  errors.push(...validateCovered(patterns, path))
  if (patterns.length > 1 && patterns.includes(everything)) {
    errors.push(fieldError.invalid(path, patterns, "if '*/*' is present, must not specify other resources"))
  }
  if (patterns.includes('*') && endsWithPlain(patterns)) {
    errors.push(
      fieldError.invalid(path, patterns, "if '*' is present, must not specify other resources without subresources"),
    )
  }
  return errors
}

function validateCovered(patterns: readonly string[], path: FieldPath): FieldError[] {
  const [wholeResources, wholeSubresources] = [new Set<string>(), new Set<string>()]
  return patterns.flatMap((pattern, index) => {
    if (pattern === '') return [fieldError.required(path.index(index))]
    const slash = pattern.indexOf('/')
    if (slash < 0) return []
    const [resource, subresource] = [pattern.slice(0, slash), pattern.slice(slash + 1)]
    const covering: string[] = []
    if (wholeResources.has(resource)) covering.push(`${resource}/*`)
    if (wholeSubresources.has(subresource)) covering.push(`*/${subresource}`)
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
    return covering.map((cover) =>
      fieldError.invalid(path.index(index), pattern, `if '${cover}' is present, must not specify ${pattern}`),
    )
  })
}

/** Only the last pattern without a subresource counts: upstream forgets the earlier ones, and so do we. */
function endsWithPlain(patterns: readonly string[]): boolean {
  const last = patterns.filter((pattern) => pattern !== '' && !pattern.includes('/')).at(-1)
  return last !== undefined && last !== '*'
}
