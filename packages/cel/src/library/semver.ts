/**
 * Semantic versions 2.0.0, strict or normalized (`v1.2` is `1.2.0`).
 */
import { member, overload, type Library } from '../environment.ts'
import { quote } from '../primitives/text.ts'
import { boolType, intType, objectType, stringType } from '../types.ts'
import { EvaluationError, intFromBigInt, Opaque } from '../values.ts'

export const semverType = objectType('kubernetes.Semver')

class SemverValue extends Opaque {
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly prerelease: readonly string[]
  readonly build: readonly string[]

  constructor({ numbers, prerelease, build }: Pick<SemverValue, 'numbers' | 'prerelease' | 'build'>) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
    this.build = build
  }

  /** Build metadata is ignored. */
  compare(other: SemverValue): number {
    for (const [index, number] of this.numbers.entries()) {
      const theirs = other.numbers[index]!
      if (number !== theirs) return number < theirs ? -1 : 1
    }
    return comparePrereleases(this.prerelease, other.prerelease)
  }

  equals(other: Opaque): boolean {
    return other instanceof SemverValue && this.compare(other) === 0
  }

  override toString(): string {
    const suffix = (mark: string, parts: readonly string[]) => (parts.length === 0 ? '' : mark + parts.join('.'))
    return `${this.numbers.join('.')}${suffix('-', this.prerelease)}${suffix('+', this.build)}`
  }
}

const two = [semverType, semverType]
const parsed = (text: string, normalize: boolean) => (normalize ? parseNormalized(text) : parse(text))

export const semver: Library = {
  semver: [
    overload('string_to_semver', [stringType], { to: semverType, run: (text: string) => parse(text) }),
    overload('string_bool_to_semver', [stringType, boolType], {
      to: semverType,
      run: (text: string, normalize: boolean) => parsed(text, normalize),
    }),
  ],
  isSemver: [
    overload('is_semver_string', [stringType], {
      to: boolType,
      run: (text: string) => parse(text) instanceof SemverValue,
    }),
    overload('is_semver_string_bool', [stringType, boolType], {
      to: boolType,
      run: (text: string, normalize: boolean) => parsed(text, normalize) instanceof SemverValue,
    }),
  ],
  isGreaterThan: [
    member('semver_is_greater_than', two, { to: boolType, run: (a: SemverValue, b: SemverValue) => a.compare(b) > 0 }),
  ],
  isLessThan: [
    member('semver_is_less_than', two, { to: boolType, run: (a: SemverValue, b: SemverValue) => a.compare(b) < 0 }),
  ],
  compareTo: [member('semver_compare_to', two, { to: intType, run: (a: SemverValue, b: SemverValue) => a.compare(b) })],
  major: [
    member('semver_major', [semverType], { to: intType, run: ({ numbers }: SemverValue) => intFromBigInt(numbers[0]) }),
  ],
  minor: [
    member('semver_minor', [semverType], { to: intType, run: ({ numbers }: SemverValue) => intFromBigInt(numbers[1]) }),
  ],
  patch: [
    member('semver_patch', [semverType], { to: intType, run: ({ numbers }: SemverValue) => intFromBigInt(numbers[2]) }),
  ],
}

/** Longer texts are refused; parsing their numbers would take long. */
const lengthMax = 1000

function parse(text: string): SemverValue | EvaluationError {
  if (text === '') return new EvaluationError('Version string empty')
  const parts = splitInThree(text)
  if (parts.length !== 3 || text.length > lengthMax) return new EvaluationError('No Major.Minor.Patch elements found')
  const [core = '', ...rest] = parts[2]!.split('+')
  const build = rest.join('+')
  const dash = core.indexOf('-')
  const patch = dash < 0 ? core : core.slice(0, dash)
  const numbers = [parts[0]!, parts[1]!, patch]
  const wrong = numbers
    .map((number, index) => checkNumber(number, places[index]!))
    .find((problem) => problem !== undefined)
  if (wrong !== undefined) return new EvaluationError(wrong)
  const prerelease = dash < 0 ? [] : core.slice(dash + 1).split('.')
  const builds = rest.length === 0 ? [] : build.split('.')
  const problem =
    prerelease.map(checkPrerelease).find((found) => found !== undefined) ??
    builds.map(checkBuild).find((found) => found !== undefined)
  if (problem !== undefined) return new EvaluationError(problem)
  return new SemverValue({ numbers: numbers.map(BigInt) as [bigint, bigint, bigint], prerelease, build: builds })
}

const places = ['major', 'minor', 'patch']

/** Adds missing parts and drops a `v` and leading zeros. */
function parseNormalized(text: string): SemverValue | EvaluationError {
  const parts = splitInThree(text.replace(/^v/, '')).map((part) => {
    if (part.length <= 1) return part
    const stripped = part.replace(/^0+/, '')
    return /^\d/.test(stripped) ? stripped : `0${stripped}`
  })
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!))
    return new EvaluationError('short version cannot contain PreRelease/Build meta data')
  while (parts.length < 3) parts.push('0')
  return parse(parts.join('.'))
}

function splitInThree(text: string): string[] {
  const [first = '', second, ...rest] = text.split('.')
  return second === undefined ? [first] : rest.length === 0 ? [first, second] : [first, second, rest.join('.')]
}

function checkNumber(text: string, place: string): string | undefined {
  const name = place[0]!.toUpperCase() + place.slice(1)
  if (!/^\d+$/.test(text)) return `Invalid character(s) found in ${place} number ${quote(text)}`
  if (text.length > 1 && text.startsWith('0')) return `${name} number must not contain leading zeroes ${quote(text)}`
  return BigInt(text) > 2n ** 64n - 1n ? `strconv.ParseUint: parsing ${quote(text)}: value out of range` : undefined
}

function checkPrerelease(text: string): string | undefined {
  if (text === '') return 'Prerelease is empty'
  if (/^\d+$/.test(text))
    return text.length > 1 && text.startsWith('0')
      ? `Numeric PreRelease version must not contain leading zeroes ${quote(text)}`
      : undefined
  return /^[0-9A-Za-z-]+$/.test(text) ? undefined : `Invalid character(s) found in prerelease ${quote(text)}`
}

function checkBuild(text: string): string | undefined {
  if (text === '') return 'Build meta data is empty'
  return /^[0-9A-Za-z-]+$/.test(text) ? undefined : `Invalid character(s) found in build meta data ${quote(text)}`
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length)
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareIdentifiers(a[index]!, b[index]!)
    if (order !== 0) return order
  }
  return Math.sign(a.length - b.length)
}

/** Numeric identifiers come before alphanumeric ones and compare as numbers. */
function compareIdentifiers(a: string, b: string): number {
  if (a === b) return 0
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (left && right) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
  if (left !== right) return left ? -1 : 1
  return a < b ? -1 : 1
}
