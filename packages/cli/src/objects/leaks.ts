/**
 * What may be left behind when an object goes without its cleanup.
 */
import { isJsonObject } from 'evenkeel/api'
import type { JsonObject, KubeObject } from 'evenkeel/api'

/** In sentences; never empty: nobody can promise that nothing is left. */
export function leftoversOf(object: KubeObject, finalizers: readonly string[]): readonly string[] {
  const { status } = object as { status?: JsonObject }
  const facts = isJsonObject(status) ? status : {}
  const external = isJsonObject(facts['external']) ? facts['external'] : {}
  const children = Array.isArray(facts['children']) ? facts['children'].filter(isJsonObject) : []
  const elsewhere = children.filter(({ namespace }) => (namespace ?? '') !== (object.metadata.namespace ?? ''))
  const dependencies = Array.isArray(facts['dependencies']) ? facts['dependencies'].filter(isJsonObject) : []
  return [
    ...(external['id'] === undefined ? [] : [`the thing outside with the id ${String(external['id'])}`]),
    ...elsewhere.map(
      ({ kind, namespace, name }) =>
        `${String(kind).toLowerCase()}/${String(name)} in ${String(namespace)}, which no owner reference reaches`,
    ),
    ...dependencies.map(
      ({ kind, name }) => `marks on ${String(kind).toLowerCase()}/${String(name)}, which it depends on`,
    ),
    ...finalizers.map((finalizer) => `whatever ${finalizer} stands for`),
  ]
}
