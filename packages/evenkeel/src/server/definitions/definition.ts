/**
 * A CustomResourceDefinition as the server reads it: its parts by name, with what defaulting guarantees.
 *
 * Objects come from the store, where only validated ones are, so the shape is taken as given.
 */
import type { Condition, JsonObject, PrinterColumn, SchemaNode, UnstructuredObject } from '#api'
import type { WebhookConfig } from '../conversion/webhook.ts'

export interface DefinitionNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface DefinitionVersion {
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

export interface DefinitionStatus {
  readonly acceptedNames?: DefinitionNames
  readonly storedVersions?: readonly string[]
  readonly conditions?: readonly Condition[]
}

export interface Definition {
  readonly metadata: UnstructuredObject['metadata']
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced' | 'Cluster'
    readonly names: DefinitionNames
    readonly versions: readonly DefinitionVersion[]
    readonly conversion?: { readonly strategy: string; readonly webhook?: WebhookConfig }
  }
  readonly status?: DefinitionStatus
}

export function asDefinition(object: UnstructuredObject): Definition {
  return object as unknown as Definition
}
