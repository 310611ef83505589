package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// grafanaOrg is the organization that every Grafana starts with.
const grafanaOrg = "1"

// grafanaFillers covers Grafana.
func grafanaFillers() map[string]filler {
	withUID := func(more func(d *draft)) filler {
		return func(d *draft) error {
			d.setDefault("uid", randomString(hexDigits, 14))
			d.setDefault("orgId", grafanaOrg)
			d.setID(grafanaOrg + ":" + d.text("uid"))
			more(d)
			return nil
		}
	}
	return map[string]filler{
		"grafana:oss/folder:Folder": withUID(func(d *draft) {
			d.set("url", d.account.grafanaURL()+"/dashboards/f/"+d.text("uid")+"/"+slug(d.text("title")))
		}),
		"grafana:oss/dataSource:DataSource": withUID(func(d *draft) { d.setDefault("isDefault", false) }),
		"grafana:oss/dashboard:Dashboard":   dashboard,
	}
}

// dashboard takes uid and title from the document, as Grafana does.
func dashboard(d *draft) error {
	var doc struct{ UID, Title string }
	if err := json.Unmarshal([]byte(d.text("configJson")), &doc); err != nil {
		return fmt.Errorf("save dashboard: decode configJson: %w", err)
	}
	d.setDefault("orgId", grafanaOrg)
	d.setID(grafanaOrg + ":" + doc.UID)
	d.set("uid", doc.UID)
	d.set("url", d.account.grafanaURL()+"/d/"+doc.UID+"/"+slug(doc.Title))
	d.setDefault("dashboardId", 1)
	version := 1.0
	if v, ok := d.r.Outputs["version"]; ok && v.IsNumber() {
		version = v.NumberValue() + 1
	}
	d.out["version"] = resource.NewNumberProperty(version)
	return nil
}

// slug returns a title as Grafana writes it in URLs.
func slug(title string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(title)), "-")
}
