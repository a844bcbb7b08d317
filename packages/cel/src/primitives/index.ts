/**
 * `@evenkeel/cel/primitives`: JSON, quantities, timestamps, names and text, without the CEL engine.
 */
export {
  deepCopy,
  deepEqual,
  deepFreeze,
  exceedsDepth,
  getOwn,
  isJsonNumber,
  isJsonObject,
  jsonSize,
  pushAll,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonPrimitive,
  type JsonValue,
} from './json.ts'
export { endOfString, integerOf, parseJson, stringifyJson } from './json-text.ts'
export {
  checkDns1035Label,
  checkDns1035LabelName,
  checkDnsLabel,
  checkDnsLabelName,
  checkDnsSubdomain,
  checkDnsSubdomainName,
  checkLabelValue,
  checkPathSegmentName,
  checkQualifiedName,
  generateName,
  type NameRule,
} from './names.ts'
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityAsInteger,
  quantityAsNumber,
  quantityOf,
  subtractQuantities,
  type Quantity,
  type QuantityFormat,
} from './quantity.ts'
export { compareText, compareUtf8, quote, utf8Length } from './text.ts'
export {
  formatDuration,
  formatMicroTime,
  formatTime,
  parseDuration,
  parseTime,
  parseTimestamp,
  type ParsedTimestamp,
} from './time.ts'
