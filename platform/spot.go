package platform

// EC2's service-linked role for spot instances, which an account has once (EC2 User
// Guide, "Service-linked role for Spot Instance requests").
const (
	SpotRole    = "AWSServiceRoleForEC2Spot"
	SpotService = "spot.amazonaws.com"
)
