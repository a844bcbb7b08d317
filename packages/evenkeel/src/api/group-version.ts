/**
 * Names of API groups, versions, kinds and resources, and the texts made of them.
 *
 * The core group is the empty text: its apiVersion is `v1`, every other group's is `group/version`.
 */

export interface GroupVersion {
  readonly group: string
  readonly version: string
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

/**
 * Splits an apiVersion. The empty text gives an empty group and version, as in Kubernetes.
 *
 * @throws {RangeError} when there is more than one slash.
 */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const parts = apiVersion.split('/')
  if (parts.length > 2) throw new RangeError(`unexpected GroupVersion string: ${apiVersion}`)
  const [first = '', second] = parts
  return second === undefined ? { group: '', version: first } : { group: first, version: second }
}

export function formatApiVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`
}

/** A resource or kind with its group behind a dot, as error messages name it: `deployments.apps`, `pods`. */
export function formatGroupName(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`
}

/** An `apiVersion` as it is written: the core group is empty, so Go reads `/v1` as `v1`, and `/` as no version at all. */
export function canonicalApiVersion(text: string): string {
  return /^\/[^/]*$/.test(text) ? text.slice(1) : text
}
