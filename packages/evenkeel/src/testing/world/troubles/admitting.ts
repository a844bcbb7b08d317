/**
 * A webhook of somebody else that adds something of its own to every object of a kind, whoever writes it.
 *
 * What comes back is then not what was sent. Whoever compares the two whole finds a difference that no write takes away.
 */
import type { AdmissionHook } from '#server'
import type { Deviation } from '../../faults/deviation.ts'
import { admittedKey } from '../deeds.ts'

export function mutatingHooks(deviations: readonly Deviation[]): readonly AdmissionHook[] {
  return deviations.flatMap(({ deed }) => (deed.type === 'mutate' ? [mutatingHook(deed.resource)] : []))
}

function mutatingHook(resource: string): AdmissionHook {
  return {
    name: `marks ${resource}`,
    rules: [{ resources: [resource] }],
    mutate: ({ metadata, ...rest }) => ({
      ...rest,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, [admittedKey]: 'yes' },
        annotations: { ...metadata.annotations, [admittedKey]: 'yes' },
      },
    }),
  }
}
