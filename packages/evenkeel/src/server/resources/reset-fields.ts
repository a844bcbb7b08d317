/**
 * Fields that an endpoint sets back to what they were, so that nobody comes to own them there.
 *
 * Most kinds are alike: the object itself does not write its status, the status does not write the spec, and as much of
 * metadata as writes to the status leave alone. Rows for kinds that differ follow the strategies of Kubernetes 1.36.
 */
import { excludeFields, includeFields } from '#api'
import type { FieldFilter } from '#api'
import type { Resource } from './resource.ts'

/** A filter for each endpoint of an object; the object itself is `''`. Endpoints without one own what they write. */
export type ResetFilters = Readonly<Record<string, FieldFilter>>

export function resetFilters(resource: Resource): ResetFilters {
  const { group, kind, subresources } = resource
  const special = Object.hasOwn(specials, `${group}/${kind}`) ? specials[`${group}/${kind}`] : undefined
  const hasStatus = subresources.some(({ name }) => name === 'status')
  return { ...(hasStatus && { '': withoutStatus, status: statusFilter(resource) }), ...special }
}

// Made once: whoever remembers what a write came to compares filters by `===`, also when a definition is served anew.
const withoutStatus = excludeFields(['status'])
const statusFilters = {
  metadata: excludeFields(['metadata'], ['spec']),
  labels: excludeFields(['spec'], ['metadata', 'labels']),
  ownerReferences: excludeFields(['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']),
  other: excludeFields(['spec']),
}

const specials: Readonly<Record<string, ResetFilters>> = {
  '/Namespace': { finalize: withoutStatus },
  '/Pod': {
    ephemeralcontainers: includeFields(['spec', 'ephemeralContainers']),
    resize: includeFields(
      ...['containers', 'initContainers'].flatMap((list) => [
        ['spec', list, '*', 'resources'],
        ['spec', list, '*', 'resizePolicy'],
      ]),
    ),
  },
  'certificates.k8s.io/CertificateSigningRequest': {
    '': excludeFields(['spec'], ['status']),
    approval: excludeFields(['spec'], ['status', 'certificate']),
    status: excludeFields(['spec'], ['status', 'conditions']),
  },
}

function statusFilter({ custom, strategy: { statusKeeps } }: Resource): FieldFilter {
  if (custom || statusKeeps === 'metadata') return statusFilters.metadata
  switch (statusKeeps) {
    case 'labels':
      return statusFilters.labels
    case 'ownerReferences':
      return statusFilters.ownerReferences
    default:
      return statusFilters.other
  }
}
