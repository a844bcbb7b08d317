/**
 * StorageObjectInUseProtection: new claims, volumes and volume attributes classes get a finalizer, so that they stay while
 * they are used. The controller `storage protection` of a plane removes it from unused ones: without that controller the
 * plugin must be off, or deleted claims would never go.
 */
import type { AdmissionPlugin } from '../admission.ts'

const finalizers = new Map([
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['volumeattributesclasses', 'kubernetes.io/vac-protection'],
])

export function storageProtectionPlugin(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    resources: new Set(['/persistentvolumeclaims', '/persistentvolumes', 'storage.k8s.io/volumeattributesclasses']),
    handles: ({ operation, target }) => operation === 'CREATE' && target.subresource === undefined,
    mutate(draft, { target }) {
      const finalizer = finalizers.get(target.resource.plural)
      const present = draft.metadata.finalizers ?? []
      if (finalizer !== undefined && !present.includes(finalizer)) draft.metadata.finalizers = [...present, finalizer]
      return false
    },
  }
}
