/**
 * The order of API versions: the one that clients should prefer comes first.
 *
 * `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, and then names of any other form in the order of the alphabet.
 */

const form = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/
const stages = ['alpha', 'beta', undefined]

/** For `sort`: negative when `a` is preferred. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a)
  const right = rank(b)
  if (!left || !right) return left ? -1 : right ? 1 : compareNames(a, b)
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value
    if (difference !== 0) return difference
  }
  return 0
}

/** Stage, major and minor, most important first; nothing for a name of another form. */
function rank(version: string): [number, number, number] | undefined {
  const match = form.exec(version)
  if (!match) return undefined
  return [stages.indexOf(match[2]), Number(match[1]), Number(match[3] ?? 0)]
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
