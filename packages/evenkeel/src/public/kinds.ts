/**
 * `evenkeel/kinds`: schemas of the types of Kubernetes. The kinds and types are in `evenkeel/kinds/core/v1` and so on.
 */
export { schemaOf } from '#kinds'
