package localcloud

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
)

// newEMR returns EMR on this region. Its nodes get their addresses from c.ec2.
func (c *cloud) newEMR() *emr.Service {
	return &emr.Service{
		Region: c.region, Store: c.store, Objects: c.objects, Applications: c.Applications, JavaHome: c.JavaHome,
		AWSRegion: AWSRegion, AccountID: AccountID, Gateway: networkGateway,
		Credentials: c.roleCredentials, Address: c.ec2.NodeAddress, Expose: c.expose, Clock: clock.RealClock{}, Log: c.log, LogDelay: c.LogDelay,
	}
}

// newEMRResources returns the resources of EMR. They use its API, as the provider does.
func (c *cloud) newEMRResources() emr.Resources {
	return emr.Resources{API: awsemr.New(awsemr.Options{
		Region: AWSRegion, BaseEndpoint: aws.String("http://" + serviceAddress(portEMR)),
		Credentials: credentials.NewStaticCredentialsProvider(c.credentials.AccessKeyID, c.credentials.SecretAccessKey, ""),
	})}
}
