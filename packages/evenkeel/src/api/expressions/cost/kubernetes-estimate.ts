/**
 * Estimates for the functions Kubernetes has a price for, by name.
 */
import { sameType, type Type } from '../check/type.ts'
import { namedFormatType } from '../library/kubernetes/named-format.ts'
import { cidrType, ipType } from '../library/kubernetes/network.ts'
import { quantityType } from '../library/kubernetes/quantity.ts'
import { semverType } from '../library/kubernetes/semver.ts'
import { urlType } from '../library/kubernetes/url.ts'
import type { CallEstimate, EstimatedCall } from './call-estimate.ts'
import type { CostEstimator, Operand } from './estimate.ts'
import { countMax, exactly, product, scaled, sum, unknownRange, type CountRange } from './range.ts'

const kubernetesTraversalFactor = 0.1
const kubernetesRegexFactor = 0.25
/** Formats are priced as if their patterns were this long. */
const formatPatternMax = 128
const one: CallEstimate = { cost: exactly(1) }

/** Undefined when Kubernetes has no price for it. */
export function estimateKubernetes(estimate: CostEstimator, call: EstimatedCall): CallEstimate | undefined {
  return functions.get(call.name)?.(call, new Sizes(estimate))
}

type Estimator = (call: EstimatedCall, sizes: Sizes) => CallEstimate | undefined

class Sizes {
  readonly #estimate: CostEstimator

  constructor(estimate: CostEstimator) {
    this.#estimate = estimate
  }

  of(operand: Operand | undefined): CountRange {
    return operand?.size ?? this.#estimate.declaredSize(operand?.path) ?? unknownRange
  }

  /** An element of a list; undefined when it is no list. */
  elementOf({ type, path }: Operand): Operand | undefined {
    const [element] = type.parameters
    return element && { node: undefined, type: element, path: path?.separately('@items'), size: undefined }
  }
}

const overTarget: Estimator = ({ target }, sizes) =>
  target && { cost: scaled(sizes.of(target), kubernetesTraversalFactor), size: sizes.of(target) }
const overFirst: Estimator = ({ operands }, sizes) =>
  operands[0] && { cost: scaled(sizes.of(operands[0]), kubernetesTraversalFactor) }
const accessor: Estimator = () => one

const functions: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  ...named(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'], overElements),
  [
    'url',
    ({ operands }, sizes) =>
      operands.length === 1
        ? { cost: scaled(sizes.of(operands[0]), kubernetesTraversalFactor), size: sizes.of(operands[0]) }
        : undefined,
  ],
  ...named(['lowerAscii', 'upperAscii', 'substring', 'trim'], overTarget),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ...named(['find', 'findAll'], find),
  ...named(['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'], overFirst),
  ['ip', (call, sizes) => (call.overload === 'cidr_ip' ? one : overFirst(call, sizes))],
  [
    'ip.isCanonical',
    ({ operands }, sizes) => operands[0] && { cost: scaled(sizes.of(operands[0]), 2 * kubernetesTraversalFactor) },
  ],
  ['containsIP', containsIp],
  ['containsCIDR', containsCidr],
  [
    'validate',
    ({ operands }, sizes) =>
      operands[0] && {
        cost: scaled(
          scaled(sizes.of(operands[0]), kubernetesTraversalFactor),
          formatPatternMax * kubernetesRegexFactor,
        ),
      },
  ],
  ...named(
    [
      'masked',
      'prefixLength',
      'family',
      'isUnspecified',
      'isLoopback',
      'isLinkLocalMulticast',
      'isLinkLocalUnicast',
      'isGlobalUnicast',
      'format.named',
      'sign',
      'asInteger',
      'isInteger',
      'asApproximateFloat',
      'isGreaterThan',
      'isLessThan',
      'compareTo',
      'add',
      'sub',
      'major',
      'minor',
      'patch',
      'getScheme',
      'getHostname',
      'getHost',
      'getPort',
      'getEscapedPath',
      'getQuery',
    ],
    accessor,
  ),
  ['_==_', equality],
])

function named(names: readonly string[], estimator: Estimator): [string, Estimator][] {
  return names.map((name) => [name, estimator])
}

function overElements({ target }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target) return undefined
  const element = sizes.elementOf(target)
  if (!element) return { cost: scaled(sizes.of(target), kubernetesTraversalFactor) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  const each = isText ? sum(exactly(1), scaled(sizes.of(element), kubernetesTraversalFactor)) : exactly(1)
  return { cost: product(sizes.of(target), each) }
}

/** The longest result puts the longest text in place of as many of the shortest as there can be; the shortest the other way round. */
function replace({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target || operands.length < 2) return undefined
  const [size, from, to] = [sizes.of(target), sizes.of(operands[0]), sizes.of(operands[1])]
  const longest =
    from.min === 0n
      ? ([size.max < countMax ? size.max + 1n : size.max, size.max] as const)
      : to.max <= from.min
        ? ([0n, size.max] as const)
        : ([quotient(size.max, from.min), 0n] as const)
  const shortest =
    from.max === 0n
      ? ([size.min < countMax ? size.min + 1n : size.min, size.min] as const)
      : from.max <= to.min
        ? ([0n, size.min] as const)
        : ([quotient(size.min, from.max), 0n] as const)
  const result = sum(product({ min: shortest[0], max: longest[0] }, to), { min: shortest[1], max: longest[1] })
  return { cost: scaled(size, 2 * kubernetesTraversalFactor), size: result }
}

function quotient(a: bigint, b: bigint): bigint {
  const result = Math.ceil(Number(a) / Number(b))
  return result >= 2 ** 64 ? countMax : BigInt(result)
}

function split({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target) return undefined
  const size = sizes.of(target)
  const limit = operands[1]?.node?.kind === 'literal' ? operands[1].node.value : undefined
  const max = typeof limit === 'number' || typeof limit === 'bigint' ? BigInt.asUintN(64, BigInt(limit)) : size.max
  return { cost: scaled(size, 2 * kubernetesTraversalFactor), size: { min: 0n, max } }
}

function join({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target) return undefined
  const count = sizes.of(target)
  const element = sizes.elementOf(target)
  let size = element ? product(count, sizes.of(element)) : exactly(0)
  if (operands[0]) {
    const separators = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n }
    size = sum(size, product(sizes.of(operands[0]), separators))
  }
  return { cost: scaled(size, kubernetesTraversalFactor), size }
}

function find({ target, operands }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!target || !operands[0]) return undefined
  const size = sizes.of(target)
  const text = scaled(sum(size, exactly(1)), kubernetesTraversalFactor)
  return { cost: product(text, scaled(sizes.of(operands[0]), kubernetesRegexFactor)), size: { min: 0n, max: size.max } }
}

/** Addresses have 4 or 16 bytes. */
const addressSize: CountRange = { min: 4n, max: 16n }

function containsIp({ operands, overload }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!operands[0]) return undefined
  const parsing =
    overload === 'cidr_contains_ip_string' ? scaled(sizes.of(operands[0]), kubernetesTraversalFactor) : exactly(0)
  return { cost: sum(scaled(sum(addressSize, addressSize), kubernetesTraversalFactor), parsing) }
}

function containsCidr({ operands, overload }: EstimatedCall, sizes: Sizes): CallEstimate | undefined {
  if (!operands[0]) return undefined
  const parsing =
    overload === 'cidr_contains_cidr_string' ? scaled(sizes.of(operands[0]), kubernetesTraversalFactor) : exactly(0)
  return {
    cost: sum(
      scaled(sum(addressSize, addressSize), kubernetesTraversalFactor),
      scaled(addressSize, kubernetesTraversalFactor),
      exactly(1),
      parsing,
    ),
  }
}

const simplyEqual: readonly Type[] = [ipType, cidrType, quantityType, semverType]

function equality({ operands: [left, right] }: EstimatedCall): CallEstimate | undefined {
  if (!left || !right || !sameType(left.type, right.type)) return undefined
  if (simplyEqual.some((type) => sameType(type, left.type))) return one
  if (sameType(left.type, namedFormatType)) return { cost: scaled({ min: 1n, max: 64n }, kubernetesTraversalFactor) }
  if (!sameType(left.type, urlType)) return undefined
  return { cost: scaled({ min: 1n, max: right.size?.max ?? 1n }, kubernetesTraversalFactor) }
}
