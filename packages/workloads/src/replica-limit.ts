/**
 * How many processes one object may ask for: 1,000, unless the program raises it.
 *
 * The limit is a rule of the schema, so that the server refuses a typing error (`replicas: 1e9`) before anything starts.
 */

/** @default of the option `maxReplicas` of `workloads` */
export const defaultMaxReplicas = 1000

/** A field that counts processes. @throws {RangeError} for a limit that is no whole number */
export function countField(maxReplicas: number, { minimum }: { readonly minimum: 0 | 1 }) {
  if (!(Number.isInteger(maxReplicas) && maxReplicas >= 1))
    throw new RangeError(`maxReplicas must be a whole number of 1 or more, got ${maxReplicas}`)
  return {
    type: 'integer',
    minimum,
    default: 1,
    'x-kubernetes-validations': [
      {
        rule: `self <= ${maxReplicas}`,
        message: `at most ${maxReplicas} are allowed: write a smaller number, or raise the option maxReplicas of workloads()`,
      },
    ],
  } as const
}

/** Labels and annotations of the objects that are made from a template. */
export const templateMetadata = {
  type: 'object',
  properties: {
    labels: { type: 'object', maxProperties: 64, additionalProperties: { type: 'string', maxLength: 63 } },
    annotations: { type: 'object', maxProperties: 64, additionalProperties: { type: 'string', maxLength: 262_144 } },
  },
} as const
