/**
 * Resource quantities.
 *
 * Kubernetes decides by representation, not by value, whether a quantity is an integer: `1000m` and `1.0` are not. So a value
 * keeps the exact quantity and the representation that Go would use.
 */
import { member, overload, type Library } from '../environment.ts'
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityOf,
  subtractQuantities,
  type Quantity,
} from '../primitives/quantity.ts'
import { boolType, doubleType, intType, objectType, stringType } from '../types.ts'
import { Double, EvaluationError, intIfFits, Opaque, type Int, type Value } from '../values.ts'

export const quantityType = objectType('kubernetes.Quantity')

class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly quantity: Quantity
  readonly #held: QuantityRepresentation

  constructor(quantity: Quantity, held: QuantityRepresentation) {
    super()
    this.quantity = quantity
    this.#held = held
  }

  static parse(text: string): QuantityValue | EvaluationError {
    try {
      const quantity = parseQuantity(text)
      return new QuantityValue(quantity, representationOf(text))
    } catch (error) {
      return new EvaluationError(error instanceof Error ? error.message : String(error))
    }
  }

  equals(other: Opaque): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0
  }

  override toString(): string {
    return formatQuantity(this.quantity)
  }

  /** Undefined when it is represented as a fraction or does not fit. */
  get integer(): Int | undefined {
    if (!this.#held.isSmall || this.#held.scale < 0) return undefined
    return intIfFits(this.quantity.unscaled * 10n ** BigInt(this.quantity.scale))
  }

  get approximate(): number {
    const { unscaled, scale } = this.quantity
    const shift = scale - this.#held.scale
    const base = shift >= 0 ? Number(unscaled * 10n ** BigInt(shift)) : Number(unscaled) / 10 ** -shift
    return this.#held.scale === 0 ? base : base * Number(`1e${this.#held.scale}`)
  }

  combine(other: QuantityValue, operation: (a: Quantity, b: Quantity) => Quantity): QuantityValue {
    const [a, b] = [this.quantity.unscaled, other.quantity.unscaled]
    const [mine, theirs] = [this.#held, other.#held]
    const scale = b === 0n ? mine.scale : a === 0n ? theirs.scale : Math.min(mine.scale, theirs.scale)
    return new QuantityValue(operation(this.quantity, other.quantity), {
      scale,
      isSmall: mine.isSmall && theirs.isSmall,
    })
  }
}

const two = [quantityType, quantityType]
const withInt = [quantityType, intType]

export const quantity: Library = {
  quantity: [overload('string_to_quantity', [stringType], { to: quantityType, run: QuantityValue.parse })],
  isQuantity: [overload('is_quantity_string', [stringType], { to: boolType, run: isQuantity })],
  sign: [
    overload('quantity_sign', [quantityType], {
      to: intType,
      run: ({ quantity: { unscaled } }: QuantityValue) => (unscaled < 0n ? -1 : unscaled > 0n ? 1 : 0),
    }),
  ],
  isGreaterThan: [
    member('quantity_is_greater_than', two, {
      to: boolType,
      run: (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity) > 0,
    }),
  ],
  isLessThan: [
    member('quantity_is_less_than', two, {
      to: boolType,
      run: (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity) < 0,
    }),
  ],
  compareTo: [
    member('quantity_compare_to', two, {
      to: intType,
      run: (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity),
    }),
  ],
  asApproximateFloat: [
    member('quantity_get_float', [quantityType], {
      to: doubleType,
      run: (value: QuantityValue) => new Double(value.approximate),
    }),
  ],
  asInteger: [member('quantity_get_int', [quantityType], { to: intType, run: asInteger })],
  isInteger: [
    member('quantity_is_integer', [quantityType], {
      to: boolType,
      run: (value: QuantityValue) => value.integer !== undefined,
    }),
  ],
  add: [
    member('quantity_add', two, {
      to: quantityType,
      run: (a: QuantityValue, b: QuantityValue) => a.combine(b, addQuantities),
    }),
    member('quantity_add_int', withInt, {
      to: quantityType,
      run: (a: QuantityValue, b: Int) => a.combine(ofInt(b), addQuantities),
    }),
  ],
  sub: [
    member('quantity_sub', two, {
      to: quantityType,
      run: (a: QuantityValue, b: QuantityValue) => a.combine(b, subtractQuantities),
    }),
    member('quantity_sub_int', withInt, {
      to: quantityType,
      run: (a: QuantityValue, b: Int) => a.combine(ofInt(b), subtractQuantities),
    }),
  ],
}

function ofInt(value: Int): QuantityValue {
  return new QuantityValue(quantityOf(value, { format: 'DecimalExponent' }), { scale: 0, isSmall: true })
}

function asInteger(value: QuantityValue): Value {
  return value.integer ?? new EvaluationError('cannot convert value to integer')
}

const decimalScales = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])

/** The digits as 64 bits in units of a power of ten, or, when they are too many, in some other way. */
interface QuantityRepresentation {
  readonly scale: number
  readonly isSmall: boolean
}

function representationOf(text: string): QuantityRepresentation {
  const [, whole = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? []
  const digits = Math.max(1, whole.length + fraction.length)
  const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(suffix)
  if (binary >= 0) {
    // Go approximates the decimal digits of a power of two.
    const room = 15 - digits - Math.trunc((binary + 1) * 10 * 0.3) - 1
    return { scale: -fraction.length, isSmall: fraction === '' && room >= 0 }
  }
  const exponent = decimalScales.get(suffix) ?? (/^[eE][+-]?\d+$/.test(suffix) ? Number(suffix.slice(1)) : 0)
  const scale = exponent - fraction.length
  // More digits than fit are represented in billionths.
  return digits <= 18 && scale >= -9 ? { scale, isSmall: true } : { scale: -9, isSmall: false }
}
