/**
 * `evenkeel/unstable/schema`: the CEL types of a schema. An entry of its own, because it loads the CEL engine.
 */
export { schemaDeclType } from '../../api/schema/cel-types.ts'
