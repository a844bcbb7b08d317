/**
 * `schemaOf`: the schema of a type of Kubernetes, to embed it in the spec of a kind.
 */
import { embeddedSchema } from '@evenkeel/builtins/schemas'
import type { BuiltinType, TypedSchema } from '#api'

/**
 * The JSON Schema of a type of Kubernetes, as a custom resource may contain it: fields, required fields, formats, defaults
 * and list types. `metadata` in it has name, namespace, labels, annotations and finalizers.
 *
 * @example With zod
 * import { schemaOf } from 'evenkeel/kinds'
 * import { JobTemplateSpec } from 'evenkeel/kinds/batch/v1'
 *
 * const Backup = defineKind({
 *   group: 'demo.example.com',
 *   version: 'v1',
 *   kind: 'Backup',
 *   spec: z.object({
 *     schedule: z.string(),
 *     jobTemplate: z.custom<JobTemplateSpec>().meta(schemaOf(JobTemplateSpec)),
 *   }),
 * })
 *
 * @throws {RangeError} for a type that contains itself (`JSONSchemaProps`).
 */
export function schemaOf<T>({ builtinType }: BuiltinType<T>): TypedSchema<T> {
  return embeddedSchema(builtinType) as TypedSchema<T>
}
