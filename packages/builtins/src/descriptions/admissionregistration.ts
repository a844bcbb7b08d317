/**
 * Descriptions of admissionregistration.k8s.io/v1.
 */
export const admissionregistrationV1 = `
ApplyConfiguration: A change in the form of server-side apply.
  expression: An expression in CEL that returns the fields to apply, such as Object{spec: Object.spec{replicas: 3}}. Atomic lists, structs and maps cannot be changed.
AuditAnnotation: A text for the audit log.
  key: The name in the audit log. The full name is POLICY/KEY. At most 63 characters.
  valueExpression: An expression in CEL that returns the text, or null for none. At most 10 KiB are kept.
ExpressionWarning: A problem in an expression of a policy.
  fieldRef: The field with the expression, such as spec.validations[0].expression.
  warning: What is wrong with its types.
JSONPatch: A change in the form of a JSON patch.
  expression: An expression in CEL that returns a list of operations, such as [JSONPatch{op: "replace", path: "/spec/replicas", value: 3}].
MatchCondition: A condition in CEL. A request is handled only if all conditions are true.
  expression: The expression. It returns true or false and can use object, oldObject, request and authorizer.
  name: The name of the condition, unique in its list.
MatchResources: The requests that a policy or binding is for. All parts must match.
  excludeResourceRules: Requests that are left out, even if resourceRules matches.
  matchPolicy [Equivalent|Exact]: Exact: only the versions that the rules name; Equivalent: the same objects in other versions too, which are converted. The default is Equivalent.
  namespaceSelector: The namespaces of the objects by their labels; for a Namespace its own labels. Other objects without a namespace always match. The default is all.
  objectSelector: The objects by their labels; the old or the new one must match. Users can avoid it by changing labels. The default is all.
  resourceRules: The requests, by operation and resource. One that matches is enough.
MutatingAdmissionPolicy: Changes requests by expressions in CEL, without a webhook. It does nothing without a binding.
  spec: Which requests the policy changes, and how.
MutatingAdmissionPolicyBinding: Puts a MutatingAdmissionPolicy to use, for some resources and with some parameters.
  spec: The policy, its parameters and the requests.
MutatingAdmissionPolicyBindingSpec: What a policy is used for.
  matchResources: The requests, in addition to the conditions of the policy. Absent means all that the policy matches.
  paramRef: The parameters for the policy.
  policyName: The MutatingAdmissionPolicy. While it does not exist, the binding has no effect.
MutatingAdmissionPolicySpec: What a policy changes.
  failurePolicy [Fail|Ignore]: Fail refuses requests when an expression fails or a parameter is missing, Ignore lets them pass. The default is Fail.
  matchConditions: Conditions in CEL that a request must meet; at most 64.
  matchConstraints: The requests that the policy is for. It cannot match policies and bindings themselves.
  mutations: The changes, in order; at least one.
  paramKind: The kind of the parameters. Absent means that there are none, and params is null.
  reinvocationPolicy [IfNeeded|Never]: IfNeeded may call the policy again after others changed the object, Never calls it once.
  variables: Expressions with names, for use in the others as variables.NAME.
MutatingWebhook < ValidatingWebhook: A webhook that may change objects.
  reinvocationPolicy [IfNeeded|Never]: IfNeeded may call the webhook again after others changed the object, Never calls it once. The default is Never.
MutatingWebhookConfiguration: Webhooks that may change or refuse objects.
  webhooks: The webhooks, called one after another.
Mutation: One change. The field that patchType names is set.
  applyConfiguration: A change in the form of server-side apply.
  jsonPatch: A change in the form of a JSON patch.
  patchType [ApplyConfiguration|JSONPatch]: The form of the change.
NamedRuleWithOperations < RuleWithOperations: Operations on resources, perhaps only on objects with certain names.
  resourceNames: The names of the objects. Empty means all names.
ParamKind: The kind of the parameters of a policy.
  apiVersion: The group and version of the kind.
  kind: The kind itself.
ParamRef: The objects that are parameters of a policy. With several, each is used in turn.
  name: The object by its name. It excludes selector.
  namespace: The namespace of the parameters. Absent means that of the request. Not allowed for kinds of the whole cluster.
  parameterNotFoundAction: When no object is found: Allow skips the policy, Deny follows failurePolicy. It is required.
  selector: The objects by their labels. It excludes name.
RuleWithOperations: Operations on resources. All parts must match.
  apiGroups: The API groups. An empty text is the core group, * all groups. Required.
  apiVersions: The API versions. * means all. Required.
  operations [*|CONNECT|CREATE|DELETE|UPDATE]: The operations: CREATE, UPDATE, DELETE, CONNECT or * for all. Required.
  resources: The resources: pods, pods/log, pods/*, */scale, * for all without subresources, */* for all. Required.
  scope [*|Cluster|Namespaced]: Resources of the whole cluster, of namespaces, or both. Subresources follow their parent. The default is *.
ServiceReference: A Service in the cluster.
  name: The name of the Service.
  namespace: The namespace of the Service.
  path: The path of requests. Optional.
  port: The port of the Service. The default is 443.
TypeChecking: The result of checking the types of expressions.
  expressionWarnings: The problems that were found.
ValidatingAdmissionPolicy: Checks requests by expressions in CEL, without a webhook. It does nothing without a binding.
  spec: Which requests the policy checks, and how.
  status: What the server found out about the expressions.
ValidatingAdmissionPolicyBinding: Puts a ValidatingAdmissionPolicy to use, for some resources and with some parameters.
  spec: The policy, its parameters, the requests and the actions.
ValidatingAdmissionPolicyBindingSpec: What a policy is used for, and what a failed check does.
  matchResources: The requests, in addition to the conditions of the policy. Absent means all that the policy matches.
  paramRef: The parameters for the policy.
  policyName: The ValidatingAdmissionPolicy. While it does not exist, the binding has no effect.
  validationActions [Audit|Deny|Warn]: What a failed check does: Deny refuses the request, Warn sends a warning, Audit writes to the audit log. Deny and Warn exclude each other.
ValidatingAdmissionPolicySpec: What a policy checks.
  auditAnnotations: Texts for the audit log; at most 20. Needed when there are no validations.
  failurePolicy [Fail|Ignore]: Fail refuses requests when an expression fails or a parameter is missing, Ignore lets them pass. The default is Fail.
  matchConditions: Conditions in CEL that a request must meet; at most 64.
  matchConstraints: The requests that the policy is for. It cannot match policies and bindings themselves.
  paramKind: The kind of the parameters. Absent means that there are none, and params is null.
  validations: The checks. Needed when there are no auditAnnotations.
  variables: Expressions with names, for use in the others as variables.NAME.
ValidatingAdmissionPolicyStatus: What is known about a policy.
  conditions: The latest observations of the policy.
  observedGeneration: The generation of the policy that this status is about.
  typeChecking: The result of checking the types of its expressions.
ValidatingWebhook: A webhook that may refuse objects.
  admissionReviewVersions: The versions of AdmissionReview that the webhook understands, best first. The server uses the first that it knows too.
  clientConfig: How to reach the webhook.
  failurePolicy [Fail|Ignore]: Fail refuses requests when the webhook cannot be reached, Ignore lets them pass. The default is Fail.
  matchConditions: Conditions in CEL that a request must meet before the webhook is called; at most 64.
  matchPolicy [Equivalent|Exact]: Exact: only the versions that the rules name; Equivalent: the same objects in other versions too, which are converted. The default is Equivalent.
  name: The name of the webhook with at least three parts, such as images.example.com.
  namespaceSelector: The namespaces of the objects by their labels; for a Namespace its own labels. Other objects without a namespace always match. The default is all.
  objectSelector: The objects by their labels; the old or the new one must match. Users can avoid it by changing labels. The default is all.
  rules: The requests that the webhook is called for. One that matches is enough. Webhooks are never called for webhook configurations.
  sideEffects [None|NoneOnDryRun|Some|Unknown]: Whether the webhook changes anything elsewhere. Only None and NoneOnDryRun are allowed in v1.
  timeoutSeconds: Seconds to wait for an answer, from 1 to 30. The default is 10.
ValidatingWebhookConfiguration: Webhooks that may refuse objects and change nothing.
  webhooks: The webhooks, called at the same time.
Validation: One check.
  expression: An expression in CEL that must be true, such as object.spec.replicas <= 5. It can use object, oldObject, request, params, namespaceObject, variables and authorizer.
  message: The error when the check fails. Needed when the expression has line breaks.
  messageExpression: An expression in CEL for the error. It takes precedence over message, which is used when it fails.
  reason: The reason that the error has for programs: Unauthorized, Forbidden, Invalid or RequestEntityTooLarge. The default is Invalid.
Variable: An expression with a name. It is evaluated at most once, when it is first used.
  expression: The expression in CEL. It can use variables that are defined before it.
  name: The name, for use as variables.NAME. It must be a CEL identifier.
WebhookClientConfig: How to reach a webhook: by url or by service.
  caBundle: Certificates in PEM, in base64, that the certificate of the webhook is checked with. The default is those of the system.
  service: A Service in the cluster. It excludes url.
  url: The address, as https://HOST:PORT/PATH, without user, fragment and query. It excludes service.
`
