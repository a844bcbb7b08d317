/**
 * A CustomResourceDefinition as the server reads it: its parts by name, with what defaulting guarantees.
 *
 * Objects come from the store, where only validated ones are, so the shape is taken as given.
 */
import type { Condition, JsonObject, PrinterColumn, SchemaNode, UnstructuredObject } from '#api'
import type { ConversionWebhookConfig } from '../conversion/webhook.ts'

export interface CrdNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: SchemaNode }
  readonly subresources?: {
    readonly status?: JsonObject
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

export interface CrdStatus {
  readonly acceptedNames?: CrdNames
  readonly storedVersions?: readonly string[]
  readonly conditions?: readonly Condition[]
}

export interface CustomResourceDefinition {
  readonly metadata: UnstructuredObject['metadata']
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced' | 'Cluster'
    readonly names: CrdNames
    readonly versions: readonly CrdVersion[]
    readonly conversion?: { readonly strategy: string; readonly webhook?: ConversionWebhookConfig }
  }
  readonly status?: CrdStatus
}

export function asCrd(object: UnstructuredObject): CustomResourceDefinition {
  return object as unknown as CustomResourceDefinition
}
