/**
 * Descriptions of apiextensions.k8s.io/v1 and apiregistration.k8s.io/v1.
 */
export const apiextensionsV1 = `
CustomResourceColumnDefinition: A column of the table that kubectl get shows.
  description: What the column means, for people.
  format: How the value is shown, as an OpenAPI format such as date-time. Optional.
  jsonPath: The field of the object, as a simple path such as .spec.replicas.
  name: The title of the column.
  priority: 0 shows the column always, above 0 only in wide tables.
  type: The OpenAPI type: integer, number, string, boolean or date.
CustomResourceConversion: How objects are converted between versions.
  strategy: None changes only apiVersion; Webhook asks a webhook, which webhook describes.
  webhook: The webhook. Needed for the strategy Webhook.
CustomResourceDefinition: Defines a kind of your own. Its name is PLURAL.GROUP.
  spec: The group, names, scope and versions of the kind.
  status: Which names are accepted, and whether the kind is served.
CustomResourceDefinitionCondition < meta.v1.Condition: One aspect of the state of a definition: Established, NamesAccepted, NonStructuralSchema, Terminating or KubernetesAPIApprovalPolicyConformant.
CustomResourceDefinitionNames: The names of a kind.
  categories: Sets that the resource belongs to, such as all, for kubectl get.
  kind: The kind of the objects, in CamelCase and singular.
  listKind: The kind of lists. The default is the kind with List at the end.
  plural: The plural name in paths: /apis/GROUP/VERSION/.../PLURAL. Lower case.
  shortNames: Shorter names for kubectl. Lower case.
  singular: The singular name. Lower case. The default is the kind in lower case.
CustomResourceDefinitionSpec: The group, names, scope and versions of a kind.
  conversion: How objects are converted between versions. The default is None.
  group: The API group. The objects are served at /apis/GROUP.
  names: The names of the kind.
  preserveUnknownFields: Deprecated and must be false. Use x-kubernetes-preserve-unknown-fields in the schema.
  scope: Namespaced or Cluster. It cannot be changed.
  versions: The versions of the kind. Exactly one is stored. Clients see them sorted: v2, v1, v1beta2, v1alpha1.
CustomResourceDefinitionStatus: What became of a definition.
  acceptedNames: The names that are in use. They may differ from the spec when names are taken.
  conditions: The latest observations of the definition.
  observedGeneration: The generation of the definition that this status is about.
  storedVersions: The versions that objects may be stored in. A version can be removed from the spec only when it is not here.
CustomResourceDefinitionVersion: One version of a kind.
  additionalPrinterColumns: The columns that kubectl get shows beside the name. The default is the age.
  deprecated: True sends a warning to clients of this version. The default is false.
  deprecationWarning: The warning, in place of the default one. Only with deprecated.
  name: The name of the version, such as v1.
  schema: The schema of the objects, for validation, defaults and pruning.
  selectableFields: Fields that field selectors may use, beside metadata.name and metadata.namespace; at most 8.
  served: Whether the version is served.
  storage: Whether objects are stored in this version. Exactly one version is.
  subresources: The subresources of the objects.
CustomResourceSubresourceScale: Where the numbers of the subresource scale are.
  labelSelectorPath: The field below status or spec with the label selector as a text, which autoscalers need.
  specReplicasPath: The field below spec with the desired number, such as .spec.replicas.
  statusReplicasPath: The field below status with the observed number, such as .status.replicas.
CustomResourceSubresourceStatus: The subresource status has no settings. With it, status is written only at /status, and other changes only at the object.
CustomResourceSubresources: The subresources of a kind.
  scale: Serves /scale, for kubectl scale and autoscalers.
  status: Serves /status, so that users and controllers do not overwrite each other.
CustomResourceValidation: The schema of a kind.
  openAPIV3Schema: The schema, in the structural form of OpenAPI v3.
ExternalDocumentation: A reference to further documentation.
  description: What is found there.
  url: The address of the documentation.
JSON: Any JSON value.
JSONSchemaProps: A schema for a JSON value, as in OpenAPI v3 with additions.
  $ref: Not allowed in schemas of custom resources.
  $schema: The version of JSON Schema. Not used.
  additionalItems: Not allowed in schemas of custom resources.
  additionalProperties: The schema of all properties that properties does not name, for maps. It excludes properties.
  allOf: Schemas that must all match.
  anyOf: Schemas of which at least one must match.
  default: The value that an absent field gets. It must match the schema.
  definitions: Not allowed in schemas of custom resources.
  dependencies: Not allowed in schemas of custom resources.
  description: What the field means, for kubectl explain.
  enum: The allowed values.
  example: An example of a value, for documentation.
  exclusiveMaximum: Whether the value must be less than maximum, not equal.
  exclusiveMinimum: Whether the value must be greater than minimum, not equal.
  externalDocs: A reference to further documentation.
  format: The format of a text or number, such as date-time, int32, ipv4, uuid or email. Unknown formats are ignored.
  id: Not allowed in schemas of custom resources.
  items: The schema of the items of an array. Needed for arrays.
  maxItems: The most items of an array.
  maxLength: The most characters of a text.
  maxProperties: The most properties of an object.
  maximum: The largest number.
  minItems: The fewest items of an array.
  minLength: The fewest characters of a text.
  minProperties: The fewest properties of an object.
  minimum: The smallest number.
  multipleOf: The number must be a multiple of this one.
  not: A schema that must not match.
  nullable: Whether null is allowed. Null is replaced by the default when it is not allowed and there is one.
  oneOf: Schemas of which exactly one must match.
  pattern: A regular expression that the text must match.
  patternProperties: Not allowed in schemas of custom resources.
  properties: The schemas of the properties of an object. Others are removed unless x-kubernetes-preserve-unknown-fields is set.
  required: The properties that must be there.
  title: A short title, for documentation.
  type: object, array, string, integer, number or boolean. Needed except with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields.
  uniqueItems: True is not allowed; use x-kubernetes-list-type: set.
  x-kubernetes-embedded-resource: The value is an object with apiVersion, kind and metadata of its own, which the server checks.
  x-kubernetes-int-or-string: The value is a whole number or a text. It excludes type, except in anyOf.
  x-kubernetes-list-map-keys: The fields that identify an item of a list of type map.
  x-kubernetes-list-type: How apply merges a list: atomic replaces it, set joins unique values, map joins items by their keys. The default is atomic.
  x-kubernetes-map-type: How apply merges an object: granular field by field, atomic as a whole. The default is granular.
  x-kubernetes-preserve-unknown-fields: Keeps fields that the schema does not name, in place of removing them.
  x-kubernetes-validations: Rules in CEL that the value must meet.
JSONSchemaPropsOrArray: A schema, or a list of schemas. Custom resources allow one schema only.
JSONSchemaPropsOrBool: A schema, or true to allow everything, or false to allow nothing.
JSONSchemaPropsOrStringArray: A schema, or a list of names of properties.
SelectableField: A field that field selectors may use.
  jsonPath: The field as a simple path such as .spec.color, without arrays and not in metadata. It must be a text, a boolean or an integer.
ServiceReference: A Service in the cluster.
  name: The name of the Service.
  namespace: The namespace of the Service.
  path: The path of requests. Optional.
  port: The port of the Service. The default is 443.
ValidationRule: A rule in CEL.
  fieldPath: The field that the error names, as a path below this place such as .foo.bar. The default is this place.
  message: The error when the rule is not met. Needed when the rule has line breaks.
  messageExpression: An expression in CEL for the error. It takes precedence over message, which is used when it fails.
  optionalOldSelf: True also runs a rule with oldSelf on creation; oldSelf is then an optional value.
  reason [FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired]: The reason that the error has for programs. The default is FieldValueInvalid.
  rule: The expression, such as self.minReplicas <= self.replicas. self is the value here, oldSelf the value before an update.
WebhookClientConfig: How to reach a webhook: by url or by service.
  caBundle: Certificates in PEM, in base64, that the certificate of the webhook is checked with. The default is those of the system.
  service: A Service in the cluster. It excludes url.
  url: The address, as https://HOST:PORT/PATH, without user, fragment and query. It excludes service.
WebhookConversion: A webhook that converts objects between versions.
  clientConfig: How to reach the webhook.
  conversionReviewVersions: The versions of ConversionReview that the webhook understands, best first. The server uses the first that it knows too.
`

export const apiregistrationV1 = `
APIService: Serves one group version, by this server or by another one that it forwards to. Its name is VERSION.GROUP.
  spec: The group version and the server that serves it.
  status: Whether the server is available.
APIServiceCondition < meta.v1.Condition: One aspect of the state of an APIService: Available.
APIServiceSpec: Which group version is served, and by whom.
  caBundle: Certificates in PEM, in base64, that the certificate of the service is checked with. The default is those of the system.
  group: The API group.
  groupPriorityMinimum: The priority of the group for clients that choose among groups, from 1 to 20000. Higher is preferred.
  insecureSkipTLSVerify: Does not check the certificate of the service. Not recommended; it excludes caBundle.
  service: The Service that requests are forwarded to. Absent means that this server serves them.
  version: The API version.
  versionPriority: The order of the version in its group, from 1 to 1000. Higher comes first.
APIServiceStatus: What is known about an APIService.
  conditions: The latest observations of the APIService.
ServiceReference: A Service in the cluster.
  name: The name of the Service.
  namespace: The namespace of the Service.
  port: The port of the Service. The default is 443.
`
