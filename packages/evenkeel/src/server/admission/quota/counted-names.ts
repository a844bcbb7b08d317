/**
 * Under which names quotas count an object: `count/deployments.apps`, and for some kinds of the core group a short one.
 *
 * Only objects are counted. What they ask for (`requests.cpu`, `services.nodeports`) is not, and quotas of such amounts
 * limit nothing.
 */
import { formatGroupName } from '#api'
import type { UnstructuredObject } from '#api'
import { objectIn, textIn } from '../../builtin/rules/reading.ts'
import type { Resource } from '../../resources/resource.ts'

const shortQuotaNames: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])

/** Empty for what is never counted. */
export function quotaResourceNames(
  { storage: { group, plural } }: Pick<Resource, 'storage'>,
  object: UnstructuredObject | undefined,
): readonly string[] {
  if (plural === 'events' && group === '') return []
  const name = `count/${formatGroupName(plural, group)}`
  return group === '' && shortQuotaNames.has(plural) && !isOver(plural, object) ? [name, plural] : [name]
}

/** A pod that has ended is still an object, but no longer a pod that runs. */
function isOver(plural: string, object: UnstructuredObject | undefined): boolean {
  return plural === 'pods' && ['Succeeded', 'Failed'].includes(textIn(objectIn(object, 'status'), 'phase'))
}
