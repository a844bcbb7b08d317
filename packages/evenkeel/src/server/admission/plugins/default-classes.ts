/**
 * Classes that new objects get when they name none: DefaultStorageClass for claims, DefaultIngressClass for Ingresses. Of
 * several default classes the newest counts.
 */
import { compareText, objectIn, type UnstructuredObject } from '#api'
import { ensureDraft, type ObjectDraft } from '@evenkeel/builtins'
import type { Informer, Informers } from '../../informers.ts'
import type { AdmissionPlugin } from '../admission.ts'

interface DefaultClass {
  readonly name: string
  readonly resource: string
  readonly classes: Informer
  /** Annotations of a class that is a default. */
  readonly markers: readonly string[]
  /** The field of `spec`, and the annotation that was used before it. */
  readonly field: string
  readonly annotation: string
}

export function defaultStorageClassPlugin({ informers }: { readonly informers: Informers }): AdmissionPlugin {
  return defaultClassPlugin({
    name: 'DefaultStorageClass',
    resource: '/persistentvolumeclaims',
    classes: informers.forResource('storage.k8s.io', 'storageclasses'),
    markers: ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'],
    field: 'storageClassName',
    annotation: 'volume.beta.kubernetes.io/storage-class',
  })
}

export function defaultIngressClassPlugin({ informers }: { readonly informers: Informers }): AdmissionPlugin {
  return defaultClassPlugin({
    name: 'DefaultIngressClass',
    resource: 'networking.k8s.io/ingresses',
    classes: informers.forResource('networking.k8s.io', 'ingressclasses'),
    markers: ['ingressclass.kubernetes.io/is-default-class'],
    field: 'ingressClassName',
    annotation: 'kubernetes.io/ingress.class',
  })
}

function defaultClassPlugin({ name, resource, classes, markers, field, annotation }: DefaultClass): AdmissionPlugin {
  const hasClass = (draft: ObjectDraft): boolean =>
    objectIn(draft, 'spec')[field] !== undefined || draft.metadata.annotations?.[annotation] !== undefined
  return {
    name,
    resources: new Set([resource]),
    handles: ({ operation, target }) => operation === 'CREATE' && target.subresource === undefined,
    mutate(draft) {
      const found = hasClass(draft) ? undefined : newestDefault(classes, markers)
      if (found?.metadata.name !== undefined) ensureDraft(draft, 'spec')[field] = found.metadata.name
      return false
    },
  }
}

function newestDefault(classes: Informer, markers: readonly string[]): UnstructuredObject | undefined {
  const [newest] = classes
    .list()
    .filter(({ metadata: { annotations = {} } }) => markers.some((marker) => annotations[marker] === 'true'))
    .toSorted(
      ({ metadata: a }, { metadata: b }) =>
        compareText(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || compareText(a.name ?? '', b.name ?? ''),
    )
  return newest
}
