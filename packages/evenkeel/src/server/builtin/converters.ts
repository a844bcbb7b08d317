/**
 * Kinds that are served in a form other than the one they are kept in, beyond a new `apiVersion`.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import type { Resource } from '../resources/resource.ts'
import { autoscalerFromV2, autoscalerToV2 } from './convert-autoscaler.ts'
import { coreToEvents, eventsToCore } from './rules/index.ts'

interface Converter {
  fromStored(object: UnstructuredObject): JsonObject | UnstructuredObject
  toStored(object: UnstructuredObject): JsonObject | UnstructuredObject
}

const converters: Readonly<Record<string, Converter>> = {
  'events.k8s.io/v1 Event': { fromStored: coreToEvents, toStored: eventsToCore },
  'autoscaling/v1 HorizontalPodAutoscaler': { fromStored: autoscalerFromV2, toStored: autoscalerToV2 },
}

/** The converter of a resource, when it needs one. */
export function converterFor({ group, version, kind }: Resource): Converter | undefined {
  return converters[`${group}/${version} ${kind}`]
}
