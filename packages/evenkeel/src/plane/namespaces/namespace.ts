/**
 * Namespaces as the plane's controllers see them.
 */
import { declareKind } from '#api'
import type { Condition, Kind, KubeObject } from '#api'

export interface NamespaceObject extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] }
}

export const namespaceKind: Kind<NamespaceObject> = declareKind<NamespaceObject>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  scope: 'Cluster',
})
