/**
 * The layer `kinds`: the built-in kinds as typed values, and the schemas of their types. The values have modules of their
 * own, one for each group version.
 */
export { schemaOf } from './schema-of.ts'
